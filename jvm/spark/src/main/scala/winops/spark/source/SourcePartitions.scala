package winops.spark.source

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Cast, Concat, EvalMode, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.apache.spark.sql.winops.source.Sources

/** Partitions of a streaming source, such as Kafka's, or the streams of a union.
  *
  * Rows of one partition arrive in the order of their positions, also across micro-batches. The
  * point where a micro-batch ends in one partition is independent of the other partitions.
  * Waiting rows of different partitions are therefore ordered by partition, so that the result
  * does not depend on the division into micro-batches.
  */
object SourcePartitions {

  /** Adds a binary column that orders the partitions of the plan's source, as the last column of
    * the plan. Returns None if the source has one partition, or on the left the operator that
    * does not pass the column on.
    *
    * The column is added to the analyzed plan, because the optimizer removes a stream without
    * rows in a micro-batch from a union.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(plan: LogicalPlan, definitions: Map[Long, CTERelationDef])
      : Either[LogicalPlan, Option[(LogicalPlan, Attribute)]] =
    new OfPartitions(definitions).of(plan).map {
      case Positioned(partitioned, Seq(partition), _, _) =>
        Some((Project(plan.output :+ partition, partitioned), partition))
      case _ => None
    }

  /** Creates a new column with the name and type of the added one. */
  def column: Attribute = AttributeReference(Name, BinaryType)()

  private val Name = "_source_partition"

  /** Finds a [[Positioned]] plan if there are several partitions, and an [[OrderOfTasks]] if
    * there is one.
    */
  private final class OfPartitions(definitions: Map[Long, CTERelationDef])
      extends SourceOrderReader(definitions) {

    override protected def ofLeaf(leaf: LeafNode): Option[SourceOrder] =
      Some(Sources.order(leaf) match {
        case Some(Positioned(_, _, _, columns)) if columns.nonEmpty =>
          val partition = Alias(Concat(columns.map(bytesOf)), Name)()
          partitioned(Project(leaf.output :+ partition, leaf))
        case _ => OrderOfTasks(leaf)
      })

    /** Numbers the children. If the rows of one child only have an order, they keep their
      * partitions, and the others have NULL.
      */
    override protected def ofUnion(union: Union, children: Seq[SourceOrder]): SourceOrder = {
      val ordered = children.filterNot(_.isInstanceOf[AnyOrder])
      val isOfOne = ordered.size < children.size && ordered.size <= 1
      if (isOfOne && !ordered.exists(_.isInstanceOf[Positioned])) OrderOfTasks(union)
      else {
        val numbered = children.zip(union.children).zipWithIndex.map { case ((order, child), i) =>
          val number = Literal(ByteBuffer.allocate(Integer.BYTES).putInt(i).array)
          val (plan, partition) = order match {
            case AnyOrder(_) => (child, Literal(null, BinaryType))
            case Positioned(plan, Seq(partition), _, _) if isOfOne => (plan, partition)
            case Positioned(plan, partition, _, _) => (plan, Concat(number +: partition))
            case _ => (child, Concat(Seq(number)))
          }
          Project(child.output :+ Alias(partition, Name)(), plan)
        }
        partitioned(union.copy(children = numbered))
      }
    }

    /** Adds the empty value to the rows of the table, which precedes those of all partitions. */
    override protected def ofHistory(node: WithHistory, stream: SourceOrder): SourceOrder =
      stream match {
        case Positioned(plan, Seq(partition), _, _) =>
          val rows = Project(node.output :+ partition, plan)
          partitioned(node.withColumns(rows, Seq(Literal(Array.emptyByteArray))))
        case _ => OrderOfTasks(node)
      }

    /** Replaces a reference by the plan of its definition, as the optimizer would later. The
      * definition must be removed, because it has no references any more.
      */
    override protected def ofReference(
        reference: CTERelationRef,
        definition: CTERelationDef,
        order: SourceOrder): SourceOrder = order match {
      case Positioned(plan, Seq(partition), _, _) =>
        val columns =
          definition.child.output.zip(reference.output).map { case (column, renamed) =>
            Alias(column, renamed.name)(renamed.exprId)
          }
        partitioned(Project(columns :+ Alias(partition, Name)(), plan))
      case _ => OrderOfTasks(reference)
    }

    override protected def ofCoalesced(coalesce: Repartition, child: SourceOrder): SourceOrder =
      child match {
        case positioned: Positioned => through(coalesce, positioned)
        case _ => OrderOfTasks(coalesce)
      }

    private def partitioned(plan: LogicalPlan): SourceOrder =
      Positioned(plan, Seq(plan.output.last), isUnique = false)

    /** The value as bytes that compare like the values. A number is not negative and begins with
      * a zero byte, which does not occur in text. A text followed by a number thus sorts before
      * any longer text that begins with it.
      */
    private def bytesOf(column: Attribute): Expression = column.dataType match {
      case IntegerType => Cast(column, BinaryType, None, EvalMode.LEGACY)
      case _ => Cast(column, BinaryType)
    }
  }
}
