package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern

import winops.spark.expressions.CommonExpressions
import winops.spark.plan.{ColumnsOfInput, FramedFunction, Over}

/** Adds window functions to the operator of other ones below, so that rows are stored once. The
  * functions have the same PARTITION BY, and the same ORDER BY or one that begins with the other.
  *
  * Functions of a shorter ORDER BY run in the order of the longer one, which also orders the rows
  * that are equal by the shorter one. Over a table, Spark gives functions this order if those of
  * the longer ORDER BY are below and their results are used. If they are above, only functions
  * are put together whose results do not depend on the order of these rows, not even in the last
  * bit.
  */
private[spark] object MergedOver {

  /** Returns the plan of `call` with its functions in the operator below; None if there is no
    * such operator, or an operator in between changes the rows or computes what the functions
    * need.
    */
  def of(call: OverCall): Option[LogicalPlan] = {
    val columns = call.functions.map { case (function, alias) => column(function, alias) }
    added(call.child, call, call.functions.map(_._1), columns).map { below =>
      val kept = call.child.output.map(own => below.output.find(_.exprId == own.exprId).get)
      Project(
        kept ++ columns.zip(call.functions).map { case (column, (_, alias)) =>
          renamed(column, alias)
        },
        below)
    }
  }

  /** The input of the operator below that [[of]] adds the functions to; None if there is none. */
  def inputOf(call: OverCall): Option[LogicalPlan] =
    of(call).flatMap(_.collectFirst { case over: Over => over.child })

  /** A new column for the result of a function. */
  def column(function: FramedFunction, alias: Alias): Attribute =
    AttributeReference(alias.name, function.dataType, function.nullable, alias.metadata)()

  /** The column under the name and id that the query knows. */
  def renamed(column: Attribute, alias: Alias): Alias =
    Alias(column, alias.name)(alias.exprId, alias.qualifier, Some(alias.metadata))

  private def added(
      plan: LogicalPlan,
      call: OverCall,
      functions: Seq[FramedFunction],
      columns: Seq[Attribute]): Option[LogicalPlan] = plan match {
    case over: Over if hasSameRows(over, call) && areOver(over, functions) =>
      val stored = functions.map(ColumnsOfInput.in(_, over.content))
      val own = columns.zip(stored).map { case (column, function) =>
        column.withDataType(function.dataType)
      }
      val order = call.order.map(ColumnsOfInput.in(_, over.content))
      ordered(over, order, stored).map { case (functionsBefore, functionsNow) =>
        val all = if (order.size > over.order.size) order else over.order
        over.copy(
          spec = over.spec.copy(order = all.map(FramedFunction.textOf(_, over.content))),
          order = all,
          results = functionsBefore ++ functionsNow,
          changeColumns = over.changeColumns ++ own)
      }
    case SubqueryAlias(name, child) =>
      added(child, call, functions, columns).map(SubqueryAlias(name, _))
    case project @ Project(list, child) =>
      val meanings = list.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
      def in[A <: Expression](expression: A): A = CommonExpressions.inlined(
        expression
          .transform {
            case column: Attribute if meanings.contains(column.exprId) => meanings(column.exprId)
          }
          .asInstanceOf[A])
      val isPlain = list.forall(_.deterministic)
      val below = call.copy(
        group = call.group.map(in),
        order = call.order.map(in),
        time =
          call.time.map(time => in[Expression](time)).collect { case time: Attribute => time })
      val inlined = functions.map(in)
      val isSafe = (inlined ++ below.group ++ below.order).forall(mayBeInlined)
      if (!isPlain || !isSafe || below.time.isDefined != call.time.isDefined) None
      else {
        added(child, below, inlined, columns).map { merged =>
          val kept = list.map(withColumnsOf(_, merged.output))
          project.copy(kept ++ columns, merged)
        }
      }
    case _ => None
  }

  /** The column with its attributes as they are in `input`, where it may have lost its watermark.
    */
  private def withColumnsOf(column: NamedExpression, input: Seq[Attribute]): NamedExpression =
    column
      .transform { case own: Attribute => input.find(_.exprId == own.exprId).getOrElse(own) }
      .asInstanceOf[NamedExpression]

  /** Returns false for expressions that the operator does not evaluate itself, or of which the
    * value is that of a micro-batch.
    */
  private def mayBeInlined(expression: Expression): Boolean =
    !expression.containsPattern(TreePattern.CURRENT_LIKE) && !expression.exists {
      case _: SubqueryExpression | _: PythonFuncExpression => true
      case _ => false
    }

  private def hasSameRows(over: Over, call: OverCall): Boolean =
    areSame(over.group, call.group.map(ColumnsOfInput.in(_, over.content))) &&
      over.time.map(_.exprId) == call.time.map(_.exprId) && call.settings.areOf(over.spec)

  /** The functions of an operator, and those of `order`, in the longer one of the two orders;
    * None if they cannot run in one order.
    */
  private def ordered(
      over: Over,
      order: Seq[SortOrder],
      functions: Seq[FramedFunction]): Option[(Seq[Expression], Seq[Expression])] = {
    val (before, now) = (over.order.size, order.size)
    def inLonger(shorter: Seq[Expression], keys: Int)(
        canDo: FramedFunction => Boolean): Option[Seq[Expression]] = {
      val able = shorter.collect { case one: FramedFunction if canDo(one) => one }
      // Without a time, another sort key would change the order of arrival.
      Option.when(over.time.isDefined && able.size == shorter.size)(
        able.map(_.ofFirstKeys(keys + 1)))
    }
    if (!areSame(over.order.take(now), order.take(before))) None
    else if (before == now) Some((over.results, functions))
    else if (before > now) {
      inLonger(functions, now)(!OverFunctions.dependsOnTies(_)).map((over.results, _))
    } else if (!AttributeSet(order).subsetOf(AttributeSet(over.content))) None
    else inLonger(over.results, before)(OverFunctions.isSameInAnyOrder).map((_, functions))
  }

  private def areSame(some: Seq[Expression], others: Seq[Expression]): Boolean =
    some.size == others.size && some.zip(others).forall { case (one, other) =>
      one.semanticEquals(other)
    }

  /** Returns true if the functions need only columns of the operator's input. */
  private def areOver(over: Over, functions: Seq[FramedFunction]): Boolean =
    AttributeSet(functions.flatMap(_.references)).subsetOf(AttributeSet(over.content))
}
