package winops.spark.analysis

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.TypeCoercion
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, Filter, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, LongType, Metadata, StringType}
import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.expressions.{LosslessCast, UnqualifiedSql}
import winops.spark.internal.WinopsErrors
import winops.spark.over.Watermarks
import winops.spark.plan.{FramedFunction, GroupedOperator, JoinForm, Keep, Output}
import winops.spark.row.KeyTypes
import winops.spark.source.StoredColumns

/** An as-of join that is made a lookup. A row of the left side without a time matches nothing. */
private[spark] trait AsOfPlan {
  import AsOfPlan._

  def left: LogicalPlan
  def right: LogicalPlan

  /** Pairs of equal expressions over the left and the right side. */
  def keys: Seq[(Expression, Expression)]

  /** The time column of the left side. */
  def leftTime: Attribute

  /** The time column of the right side, of the same type. */
  def rightTime: Attribute

  /** The conditions that a row of the right side must satisfy to be a match, beside those of keys
    * and times.
    */
  def rightConditions: Seq[Expression]

  /** True if rows of the left side without a match are omitted. */
  def isInner: Boolean

  /** The arguments of the `keep` to which the join passes them. */
  def options: AsOfOptions

  /** The plan with the columns of both sides, under their ids, and then the column of
    * [[AsOfOptions.emitsLate]].
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def plan(definitions: Map[Long, CTERelationDef]): LogicalPlan

  /** The rows of the left side with the contents of the window of the right side as an array.
    *
    * @param policy
    *   the window, in CCL
    * @param leftAt
    *   the time as of which a row of the left side looks the window up
    * @param rightAt
    *   the time of the right side
    * @param isBefore
    *   true if rows of the right side of that time are not in the array
    * @param form
    *   the direction of the join, and the arguments that have an effect on its state
    * @param looksAhead
    *   true if the time as of which a row looks up may be later than its own
    */
  protected final def answered(
      policy: String,
      leftAt: Expression,
      rightAt: Expression,
      isBefore: Boolean,
      definitions: Map[Long, CTERelationDef],
      form: JoinForm,
      looksAhead: Boolean = false): Answered = {
    checkHistory()
    checkTimes()
    val ofLeft = new NamedRows(left, keys.map(_._1) :+ leftAt)
    val ofRight = new NamedRows(right, keys.map(rightKey) :+ rightAt, Some(Keep.Lookup))
    // A row without a key or a time matches nothing. On a stream, its time moves the watermark
    // nevertheless: the optimizer would move the filter below withWatermark, but for this node.
    val rows = if (right.isStreaming) StoredColumns(ofRight.plan) else ofRight.plan
    val known = (ofRight.columns.map(IsNotNull(_)) ++ rightConditions).reduce(And(_, _))
    val on = ofRight.columns.zip(ofLeft.columns).init.flatMap { case (key, own) =>
      Seq(Literal(key.name), Literal(own.name))
    }
    val table = FunctionTableSubqueryArgumentExpression(
      withoutName(Keep.Lookup, Filter(known, rows)),
      partitionByExpressions = ofRight.columns.init)
    val named = Seq[(String, Expression)](
      "policy" -> Literal(policy),
      "time" -> Literal(ofRight.columns.last.name),
      "output" -> Literal(Output.Lookup.name),
      "lookup" -> FunctionTableSubqueryArgumentExpression(ofLeft.plan),
      "lookup_time" -> Literal(ofLeft.columns.last.name),
      "lookup_before" -> Literal(isBefore),
      "lookup_how" -> Literal(if (isInner) "inner" else "left"),
      "lookup_contents" -> Literal(freeName(Match, ofLeft.plan.output))) ++
      Option.when(on.nonEmpty)("lookup_on" -> CreateNamedStruct(on)) ++
      Option.when(isInner && !options.emitsLate)("on_null_time" -> Literal("drop")) ++
      options.ofKeep
    val call = UnresolvedKeep.of(table +: named.map { case (name, value) =>
      NamedArgumentExpression(name, value)
    })
    // The names of computed columns do not say of what they are computed.
    def pairOf(own: Expression, other: Expression) =
      s"left ${FramedFunction.identityOf(own, left.output)} with " +
        s"right ${FramedFunction.identityOf(other, right.output)}"
    val join = form.copy(
      times = pairOf(leftTime, rightTime),
      keys = keys.map { case (own, other) => pairOf(own, other) },
      conditions = rightConditions.map(FramedFunction.identityOf(_, right.output)))
    val answers =
      ResolveKeep.resolve(call, definitions, _.copy(join = Some(join), looksAhead = looksAhead))
    val (own, added) = answers.output.splitAt(ofLeft.plan.output.size)
    Answered(answers, own.take(left.output.size), added.head, added.tail)
  }

  private def checkHistory(): Unit =
    if (LookupArguments.startsWithTable(left)) {
      throw refused(
        "the left side starts with a table by with_history, which only the right side can",
        "Give asof_join the left stream without with_history")
    }

  private def checkTimes(): Unit = {
    checkTimeTypes(leftTime, rightTime)
    if (leftTime.dataType != rightTime.dataType) {
      throw refused(
        s"the time column ${typeOf(leftTime, LeftSide)}, and the time column " +
          typeOf(rightTime, RightSide),
        "Cast one of them to the type of the other one")
    }
    Seq((left, leftTime, LeftSide), (right, rightTime, RightSide)).foreach {
      case (rows, time, side) =>
        if (rows.isStreaming && !Watermarks.isOn(time)) {
          throw WinopsErrors.analysis(
            "WINOPS_WATERMARK_REQUIRED",
            "column" -> s"${time.name} of the $side of the as-of join",
            "expected" -> Watermarks.advice(rows, time.name, "join by its times"))
        }
    }
  }

  /** The right one of two equal expressions, in a type that has all values of the left one, too.
    */
  private def rightKey(pair: (Expression, Expression)): Expression = {
    val (own, other) = pair
    Seq(own -> LeftSide, other -> RightSide).foreach { case (key, side) =>
      if (!KeyTypes.accept(key.dataType)) {
        throw refused(
          s"the key ${typeOf(key, side)}, whose values cannot be compared",
          s"Join by a column of another type, such as ${KeyTypes.ComparableForms}")
      }
    }
    val types = s"the key ${typeOf(own, LeftSide)}, and the key ${typeOf(other, RightSide)}"
    if (!LosslessCast.hasSameCollations(own.dataType, other.dataType)) {
      throw refused(s"$types, of another collation", LookupArguments.SameCollation)
    }
    if (LosslessCast.mixesStrings(own.dataType, other.dataType)) {
      throw refused(
        s"$types, and a string equals no value of another type",
        s"Cast one of them to the type of the other one, as in ${castOf(own, other)}")
    }
    def isCommon(to: DataType) =
      LosslessCast.isPossible(own.dataType, to) && LosslessCast.isPossible(other.dataType, to)
    // The lookup casts the left one to the type of the right one.
    if (isCommon(other.dataType)) other
    else {
      val zone = Some(SQLConf.get.sessionLocalTimeZone)
      val wider =
        own.dataType +: TypeCoercion.findWiderTypeForTwo(own.dataType, other.dataType).toSeq
      wider.find(isCommon).map(Cast(other, _, zone)).getOrElse {
        throw refused(
          s"$types, and no type has all values of both",
          "Cast one of them to the type of the other one")
      }
    }
  }

  /** The columns of both sides, and the reasons of rows that are only emitted.
    *
    * @param rows
    *   the rows with the columns of `answered` and the match
    * @param matched
    *   the row of the right side as a struct, NULL for none
    * @param mayBeLate
    *   true if the time of a row of the left side may be before the watermark
    */
  protected final def joined(
      rows: LogicalPlan,
      answered: Answered,
      matched: Attribute,
      mayBeLate: Boolean): LogicalPlan = {
    val ofLeft = left.output.zip(answered.own).map { case (column, value) =>
      val metadata =
        if (mayBeLate) GroupedOperator.withoutWatermark(value).metadata else value.metadata
      Alias(value, column.name)(column.exprId, column.qualifier, Some(metadata))
    }
    val ofRight = right.output.zipWithIndex.map { case (column, i) =>
      Alias(GetStructField(matched, i), column.name)(
        column.exprId,
        column.qualifier,
        Some(Metadata.empty))
    }
    val isShown = (matched +: answered.reason).map(IsNotNull(_): Expression).reduce(Or(_, _))
    Project(ofLeft ++ ofRight ++ answered.reason, if (isInner) Filter(isShown, rows) else rows)
  }

  /** An expression over both sides as one over the left columns of an [[Answered]] and a row of
    * the right side.
    */
  protected final def over(test: Expression, own: Seq[Attribute], row: Expression): Expression = {
    val values: Map[ExprId, Expression] = left.output.map(_.exprId).zip(own).toMap ++
      right.output.map(_.exprId).zip(right.output.indices.map(GetStructField(row, _)))
    test.transform {
      case column: Attribute if values.contains(column.exprId) => values(column.exprId)
    }
  }
}

private[spark] object AsOfPlan {
  private val LeftSide = "left side"
  private val RightSide = "right side"

  val Backward = "backward"
  val Forward = "forward"
  val Nearest = "nearest"

  val MicrosPerDay: Long = 24L * 60 * 60 * 1000 * 1000

  /** The name of the column with the match. */
  val Match = "_match"
  private val Made = "_as_of_"

  /** A name that no column has: the name itself, or with underscores before it. It depends on the
    * columns only, so that a restart finds the same name.
    */
  private def freeName(name: String, columns: Seq[Attribute]): String =
    Iterator.iterate(name)("_" + _).dropWhile(free => columns.exists(isNamed(_, free))).next()

  /** The rows with another name for the columns of a name. */
  private def withoutName(name: String, rows: LogicalPlan): LogicalPlan =
    if (!rows.output.exists(isNamed(_, name))) rows
    else {
      val free = freeName(name, rows.output)
      Project(
        rows.output.map(column => if (isNamed(column, name)) Alias(column, free)() else column),
        rows)
    }

  private def isNamed(column: Attribute, name: String): Boolean =
    column.name.equalsIgnoreCase(name)

  /** Rows of the left side that have looked up.
    *
    * @param own
    *   the columns of the left side
    * @param contents
    *   the rows of the right side, as an array of structs
    * @param reason
    *   the column with the reason for which a row has not looked up; none if the join does not
    *   emit such rows
    */
  final case class Answered(
      rows: LogicalPlan,
      own: Seq[Attribute],
      contents: Attribute,
      reason: Seq[Attribute]) {

    /** The columns that the plans above pass on. */
    def kept: Seq[Attribute] = own ++ reason
  }

  /** The error of a join that cannot run. */
  def refused(reason: String, expected: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_ASOF_JOIN", "reason" -> reason, "expected" -> expected)

  /** The error of a join of a stream with a table. */
  def ofStreamAndTable: AnalysisException =
    refused(
      "one side is a stream and the other one a table",
      "Join two streams, of which the right one may start with a table, by with_history, or join " +
        "two tables")

  /** Refuses a time column of either side that cannot be a time. */
  def checkTimeTypes(left: Attribute, right: Attribute): Unit =
    Seq(left -> LeftSide, right -> RightSide).foreach { case (time, side) =>
      ResolveKeep.checkedTime(time, s" of the $side of the as-of join")
    }

  private def typeOf(expression: Expression, side: String): String =
    s"${UnqualifiedSql.of(expression)} of the $side has the type ${expression.dataType.sql}"

  /** The cast of the one of two keys that is no string, or of the left one. */
  private def castOf(left: Expression, right: Expression): String = {
    val (key, to) =
      if (left.dataType.isInstanceOf[StringType]) (right, left) else (left, right)
    s"CAST(${UnqualifiedSql.of(key)} AS ${to.dataType.sql})"
  }

  /** The microseconds of a time. */
  def micros(time: Expression): Expression =
    PreciseTimestampConversion(time, time.dataType, LongType)

  /** The time of so many microseconds, of the type of another time. */
  def timeOf(micros: Expression, like: Expression): Expression =
    PreciseTimestampConversion(micros, LongType, like.dataType)

  /** An interval of microseconds in words, such as `5 seconds`. */
  def textOf(micros: Long): String =
    new CalendarInterval(0, (micros / MicrosPerDay).toInt, micros % MicrosPerDay).toString

  /** The microseconds from one time to a later one. */
  def distance(from: Expression, to: Expression): Expression = Subtract(micros(to), micros(from))

  /** Returns true if the earlier one of two matches is the nearer one, or as near as the later
    * one.
    *
    * @param earlier
    *   the time of the earlier match, NULL if there is none
    * @param later
    *   the time of the later match, NULL if there is none
    */
  def isEarlierNearer(earlier: Expression, later: Expression, time: Expression): Expression = And(
    IsNotNull(earlier),
    Or(IsNull(later), LessThanOrEqual(distance(earlier, time), distance(time, later))))

  /** Rows in which each of some expressions is a column with a name of its own.
    *
    * @param expressions
    *   the expressions over `rows`, the last of which is a time
    * @param reserved
    *   a name that none of their columns has
    */
  final class NamedRows(
      rows: LogicalPlan,
      expressions: Seq[Expression],
      reserved: Option[String] = None) {
    private val named: Seq[NamedExpression] = expressions.zipWithIndex.map {
      case (column: Attribute, i) if isUnique(column, expressions.take(i)) =>
        rows.output.find(_.exprId == column.exprId).getOrElse(column)
      case (other, i) =>
        Alias(other, freeName(s"$Made$i", rows.output))(explicitMetadata =
          metadata.filter(_ => i == last))
    }

    /** The columns of the expressions. */
    val columns: Seq[Attribute] = named.map(_.toAttribute)

    /** The rows with these columns. */
    val plan: LogicalPlan = {
      val added = named.collect { case alias: Alias => alias }
      if (added.isEmpty) rows else Project(rows.output ++ added, rows)
    }

    private def last: Int = expressions.size - 1

    /** The metadata of the time column, of which a computed time is not earlier. */
    private def metadata: Option[Metadata] =
      expressions.last.collectFirst { case column: Attribute => column.metadata }

    private def isUnique(column: Attribute, before: Seq[Expression]): Boolean =
      !before.exists(_.semanticEquals(column)) && !reserved.exists(isNamed(column, _)) &&
        rows.output.count(own => SQLConf.get.resolver(own.name, column.name)) == 1
  }
}
