package winops.spark.source

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Cast, Concat, EvalMode, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.apache.spark.sql.winops.source.Sources

/** Partitions of a streaming source, such as Kafka's, or the streams of a union.
  *
  * Rows of one partition come in the order of their positions, from micro-batch to micro-batch.
  * Where a micro-batch ends in one partition does not depend on where it ends in another one. So
  * that rows that wait for the watermark are applied in the order of the source however it is
  * divided into micro-batches, rows of different partitions are ordered by their partitions.
  */
object SourcePartitions {

  /** The plan with a binary column, its last, that orders the partitions of its source; none if
    * the source has one partition; or the operator that does not pass the column on.
    *
    * The column is added to the analyzed plan: in a micro-batch in which a stream of a union has
    * no rows, the optimizer removes it from the union.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(plan: LogicalPlan, definitions: Map[Long, CTERelationDef])
      : Either[LogicalPlan, Option[(LogicalPlan, Attribute)]] =
    new OfPartitions(definitions).of(plan).map {
      case Positioned(partitioned, Seq(partition), _) =>
        Some((Project(plan.output :+ partition, partitioned), partition))
      case _ => None
    }

  /** A column like the added ones. */
  def column: Attribute = AttributeReference(Name, BinaryType)()

  private val Name = "_source_partition"

  /** Finds a [[Positioned]] plan where there are partitions, and an [[OrderOfTasks]] where there
    * is one.
    */
  private final class OfPartitions(definitions: Map[Long, CTERelationDef])
      extends SourceOrderReader(definitions) {

    override protected def ofLeaf(leaf: LeafNode): Option[SourceOrder] =
      Some(Sources.partition(leaf) match {
        case Nil => OrderOfTasks(leaf)
        case columns =>
          val partition = Alias(Concat(columns.map(bytesOf)), Name)()
          partitioned(Project(leaf.output :+ partition, leaf))
      })

    override protected def ofUnion(union: Union, children: Seq[SourceOrder]): SourceOrder = {
      val numbered = children.zip(union.children).zipWithIndex.map { case ((order, child), i) =>
        val number = Literal(ByteBuffer.allocate(Integer.BYTES).putInt(i).array)
        val (plan, partition) = order match {
          case Positioned(partitioned, partition, _) => (partitioned, partition)
          case _ => (child, Nil)
        }
        Project(child.output :+ Alias(Concat(number +: partition), Name)(), plan)
      }
      partitioned(union.copy(children = numbered))
    }

    /** The plan of the definition in the place of a reference, as the optimizer would put it
      * there later. A definition without references has to be removed.
      */
    override protected def ofReference(
        reference: CTERelationRef,
        definition: CTERelationDef,
        order: SourceOrder): SourceOrder = order match {
      case Positioned(plan, Seq(partition), _) =>
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

    /** Bytes in the order of the values: of a number that is not negative, or of a text, before
      * whose end no other one has the zero with which a number begins.
      */
    private def bytesOf(column: Attribute): Expression = column.dataType match {
      case IntegerType => Cast(column, BinaryType, None, EvalMode.LEGACY)
      case _ => Cast(column, BinaryType)
    }
  }
}
