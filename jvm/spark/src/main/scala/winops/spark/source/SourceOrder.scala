package winops.spark.source

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression, Literal, MonotonicallyIncreasingID, PythonUDTF, ScalarSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.winops.source.{FilePosition, Sources}

import winops.spark.internal.WinopsErrors

/** The means to sort the rows of a plan into the order of their source, independent of the tasks
  * that read them.
  *
  * The order of tasks alone does not suffice, because Spark cuts files into tasks by the number
  * of cores and by settings.
  */
sealed abstract class SourceOrder {

  /** The plan with added columns that order its rows. */
  def positioned: Positioned
}

/** A plan with columns that order its rows as the source does.
  *
  * @param plan
  *   the plan
  * @param positions
  *   the columns, the most significant first
  * @param isUnique
  *   true if no two rows have equal positions; otherwise rows with equal positions are in the
  *   same task, in their order in the source
  * @param partitions
  *   the source's columns that identify a row's partition, the most significant first; none if
  *   the source has a single partition
  */
final case class Positioned(
    plan: LogicalPlan,
    positions: Seq[Attribute],
    isUnique: Boolean,
    partitions: Seq[Attribute] = Nil)
    extends SourceOrder {
  override def positioned: Positioned = this
}

/** The tasks hold contiguous parts of the source, one after the other. The task number and the
  * row number within the task order the rows.
  */
final case class OrderOfTasks(plan: LogicalPlan) extends SourceOrder {
  override def positioned: Positioned = {
    val number = SourceOrder.numberInTasks()
    Positioned(Project(plan.output :+ number, plan), Seq(number.toAttribute), isUnique = true)
  }
}

/** Each row leaves the plan while its task reads the row's file. The file split being read and
  * the row number within the split order the rows.
  */
final case class OrderOfFiles(plan: LogicalPlan) extends SourceOrder {
  override def positioned: Positioned = {
    val position = SourceOrder.numberInTasks().toAttribute
    Positioned(FilePosition(position, plan), Seq(position), isUnique = true)
  }
}

/** The order of the rows among each other has no effect. */
final case class AnyOrder(plan: LogicalPlan) extends SourceOrder {
  override def positioned: Positioned = Positioned(plan, Nil, isUnique = true)
}

object SourceOrder {
  private val Name = "_position"

  /** Returns the order of the plan's rows, or the operator or source that has no order.
    *
    * The plan may be analyzed or optimized.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(
      plan: LogicalPlan,
      definitions: Map[Long, CTERelationDef] = Map.empty): Either[LogicalPlan, SourceOrder] =
    new OfPositions(definitions).of(plan)

  /** The error of a `keep` call that needs the order of the source and cannot get it because of
    * `operator`.
    */
  def required(operator: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_ORDER_REQUIRED", "operator" -> operator)

  /** A new column of the value of a position. */
  def named(position: Expression): Alias = Alias(position, Name)()

  /** The number of a row in its task, in the bits below the number of the task. */
  def numberInTasks(): Alias = Alias(MonotonicallyIncreasingID(), Name)()

  private final class OfPositions(definitions: Map[Long, CTERelationDef])
      extends SourceOrderReader(definitions) {

    override protected def ofLeaf(leaf: LeafNode): Option[SourceOrder] = Sources.order(leaf)

    override protected def ofReference(
        reference: CTERelationRef,
        definition: CTERelationDef,
        order: SourceOrder): SourceOrder = order match {
      case OrderOfTasks(_) => OrderOfTasks(reference)
      case OrderOfFiles(_) => OrderOfFiles(reference)
      case AnyOrder(_) => AnyOrder(reference)
      // References are replaced by their plans before the positions are read.
      case other: Positioned => Positioned(reference, Nil, other.isUnique)
    }

    // The table is given its own order when the first micro-batch is planned.
    override protected def ofHistory(node: WithHistory, stream: SourceOrder): SourceOrder =
      OrderOfTasks(node)

    /** Orders the rows of the children one child after the other. Rows without an order have NULL
      * positions, or those of their tasks, which do not affect the other rows.
      */
    override protected def ofUnion(union: Union, orders: Seq[SourceOrder]): SourceOrder = {
      val ordered = orders.filterNot(_.isInstanceOf[AnyOrder])
      if (ordered.isEmpty) AnyOrder(union)
      else if (ordered.forall(_.isInstanceOf[OrderOfTasks])) OrderOfTasks(union)
      else {
        val children = orders.map(_.positioned)
        // Children with positions of the same types share columns, which are NULL in the other
        // children.
        val kinds = children.map(typesOf).distinct
        val columns = kinds.flatten
        val aligned = children.zipWithIndex.map { case (child, i) =>
          val before = kinds.takeWhile(_ != typesOf(child)).map(_.size).sum
          val values = columns.indices.map { c =>
            child.positions.lift(c - before).getOrElse(Literal(null, columns(c)))
          }
          val named = (Literal(i) +: values).map(Alias(_, Name)())
          Project(union.children(i).output ++ named, child.plan)
        }
        val all = union.copy(children = aligned)
        Positioned(all, all.output.takeRight(columns.size + 1), children.forall(_.isUnique))
      }
    }

    private def typesOf(positioned: Positioned) = positioned.positions.map(_.dataType)
  }
}

/** Follows the order of a source's rows, or the columns that order them, through the operators
  * above the source.
  *
  * @param definitions
  *   the plans of the WITH clause, by id
  */
private[spark] abstract class SourceOrderReader(definitions: Map[Long, CTERelationDef]) {

  /** The order of a source's rows, if it has one. */
  protected def ofLeaf(leaf: LeafNode): Option[SourceOrder]

  /** The order of the rows of all children, given the order of each child. */
  protected def ofUnion(union: Union, children: Seq[SourceOrder]): SourceOrder

  /** The order of a stream that starts with a table, given the order of the stream. */
  protected def ofHistory(node: WithHistory, stream: SourceOrder): SourceOrder

  /** The order of a reference's rows, given the order of its definition. */
  protected def ofReference(
      reference: CTERelationRef,
      definition: CTERelationDef,
      order: SourceOrder): SourceOrder

  /** The order above a node that merges tasks. */
  protected def ofCoalesced(coalesce: Repartition, child: SourceOrder): SourceOrder =
    through(coalesce, child.positioned)

  /** Returns the order of the plan's rows, or the operator or source that has no order. */
  final def of(plan: LogicalPlan): Either[LogicalPlan, SourceOrder] = plan match {
    case reference: CTERelationRef =>
      // Spark may compute other definitions once, and shuffle the rows to share them.
      definitions
        .get(reference.cteId)
        .filter(_.deterministic)
        .toRight(reference)
        .flatMap(definition => of(definition.child).map(ofReference(reference, definition, _)))
    case withClause: WithCTE =>
      of(withClause.plan).map {
        case child: Positioned => child.copy(plan = withClause.copy(plan = child.plan))
        case other => other
      }
    case rows if UnorderedRows.isAt(rows) => Right(AnyOrder(rows))
    case leaf: LeafNode => ofLeaf(leaf).toRight(leaf)
    case node if hasSubqueries(node) => Left(node)
    case union: Union =>
      val (obstacles, orders) = union.children.map(of).partitionMap(identity)
      obstacles.headOption.toLeft(ofUnion(union, orders))
    case node: WithHistory => of(node.stream).map(ofHistory(node, _))
    case coalesce: Repartition if !coalesce.shuffle =>
      // Which tasks are merged, and in which order, may depend on the location of their data.
      of(coalesce.child).map(ofCoalesced(coalesce, _))
    case udfs: BaseEvalPython =>
      // Python UDFs read rows ahead.
      of(udfs.child).map {
        case OrderOfTasks(_) => OrderOfTasks(udfs)
        case AnyOrder(_) => AnyOrder(udfs)
        case other => through(udfs, other.positioned)
      }
    case node: UnaryNode if isRowByRow(node) =>
      of(node.child).flatMap {
        case OrderOfTasks(_) => Right(OrderOfTasks(node))
        case OrderOfFiles(_) => Right(OrderOfFiles(node))
        case AnyOrder(_) => Right(AnyOrder(node))
        case child: Positioned => carried(node, child).toRight(node)
      }
    case node => Left(node)
  }

  /** Returns true if the node derives rows from one input row at a time, and emits them before it
    * reads the next one.
    */
  private def isRowByRow(node: UnaryNode): Boolean = node match {
    case generate: Generate => !generate.generator.isInstanceOf[PythonUDTF]
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint |
        _: EventTimeWatermark | _: UpdateEventTimeWatermarkColumn | _: CollectMetrics |
        _: DataFrameDropColumns | _: StoredColumns | _: Sample | _: Expand |
        _: DeserializeToObject | _: SerializeFromObject | _: MapElements | _: TypedFilter =>
      true
    case _ => false
  }

  /** Returns the node over a plan with position columns; None if the node cannot pass them on. */
  private def carried(node: UnaryNode, child: Positioned): Option[Positioned] = node match {
    case project: Project =>
      val missing = child.positions.filterNot { position =>
        project.projectList.exists(_.exprId == position.exprId)
      }
      Some(child.copy(plan = project.copy(project.projectList ++ missing, child.plan)))
    case generate: Generate =>
      val positions = AttributeSet(child.positions)
      val unrequired =
        generate.unrequiredChildIndex.filterNot(i => positions.contains(child.plan.output(i)))
      val passing = generate.copy(unrequiredChildIndex = unrequired, child = child.plan)
      Some(Positioned(passing, child.positions, isUnique = false))
    case _: Expand | _: DeserializeToObject | _: SerializeFromObject | _: MapElements |
        _: TypedFilter =>
      None
    case _: Sample => Some(through(node, child).copy(isUnique = false))
    case _ => Some(through(node, child))
  }

  protected final def through(node: UnaryNode, child: Positioned): Positioned =
    child.copy(plan = node.withNewChildren(Seq(child.plan)))

  /** Returns true if the node has a subquery that becomes a join. */
  private def hasSubqueries(node: LogicalPlan): Boolean = node.expressions.exists(_.exists {
    case value: ScalarSubquery => value.isCorrelated
    case _: SubqueryExpression => true
    case _ => false
  })
}
