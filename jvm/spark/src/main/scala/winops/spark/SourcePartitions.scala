package winops.spark

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, AttributeReference, Cast, Concat, EvalMode, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.apache.spark.sql.winops.Sources

/** Partitions of a streaming source, such as Kafka's, or the streams of a union.
  *
  * Rows of one partition come in the order of their positions, from micro-batch to micro-batch.
  * Where a micro-batch ends in one partition does not depend on where it ends in another one. So
  * that rows that wait for the watermark are applied in the order of the source however it is
  * divided into micro-batches, rows of different partitions are ordered by their partitions.
  */
object SourcePartitions {

  /** The plan with a binary column, its last, that orders the partitions of its source; none if
    * the source has one partition, or an operator does not pass the column on.
    *
    * The column is added to the analyzed plan: in a micro-batch in which a stream of a union has
    * no rows, the optimizer removes it from the union.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(
      plan: LogicalPlan,
      definitions: Map[Long, CTERelationDef]): Option[(LogicalPlan, Attribute)] =
    new OfPartitions(definitions).of(plan).toOption.map(_.positioned).collect {
      case Positioned(partitioned, Seq(partition), _) =>
        (Project(plan.output :+ partition, partitioned), partition)
    }

  /** A column like the added ones. */
  def column: Attribute = AttributeReference(Name, BinaryType)()

  private val Name = "_source_partition"
  private val EndOfText = Literal(Array[Byte](0))

  private final class OfPartitions(definitions: Map[Long, CTERelationDef])
      extends SourceOrderReader(definitions) {

    override protected def ofLeaf(leaf: LeafNode): Option[SourceOrder] = {
      val columns = Sources.partition(leaf)
      val partition = Option.when(columns.nonEmpty)(named(Concat(columns.flatMap(bytesOf))))
      Some(partition.fold(withoutPartition(leaf)) { alias =>
        withPartition(Project(leaf.output :+ alias, leaf))
      })
    }

    override protected def ofUnion(union: Union, children: Seq[SourceOrder]): SourceOrder = {
      val numbered = children.map(_.positioned).zipWithIndex.map { case (child, i) =>
        val bytes = Literal(ByteBuffer.allocate(Integer.BYTES).putInt(i).array)
        Project(union.children(i).output :+ named(Concat(bytes +: child.positions)), child.plan)
      }
      withPartition(union.copy(children = numbered))
    }

    /** The definition in the place of a reference, as the optimizer would put it there later. */
    override protected def ofReference(
        reference: CTERelationRef,
        definition: CTERelationDef,
        order: SourceOrder): SourceOrder = {
      val Positioned(plan, partition, _) = order.positioned
      if (partition.isEmpty) withoutPartition(reference)
      else {
        val copy = DeduplicateRelations(Join(plan, plan, Inner, None, JoinHint.NONE)).children(1)
        val copied = AttributeMap(plan.output.zip(copy.output))
        val columns =
          definition.child.output.zip(reference.output).map { case (column, renamed) =>
            Alias(copied(column), renamed.name)(renamed.exprId)
          }
        withPartition(Project(columns :+ named(copied(partition.head)), copy))
      }
    }

    private def withPartition(plan: LogicalPlan): SourceOrder =
      Positioned(plan, Seq(plan.output.last), isUnique = false)

    private def withoutPartition(plan: LogicalPlan): SourceOrder =
      Positioned(plan, Nil, isUnique = false)

    private def named(bytes: Expression): Alias = Alias(bytes, Name)()

    /** Bytes that have the order of the values: of a number that is not negative, or of a text.
      */
    private def bytesOf(column: Attribute): Seq[Expression] = column.dataType match {
      case IntegerType => Seq(Cast(column, BinaryType, None, EvalMode.LEGACY))
      case _ => Seq(Cast(column, BinaryType), EndOfText)
    }
  }
}
