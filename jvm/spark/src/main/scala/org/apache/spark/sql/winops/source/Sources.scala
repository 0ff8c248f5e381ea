package org.apache.spark.sql.winops.source

import org.apache.spark.OneToOneDependency
import org.apache.spark.rdd.{EmptyRDD, ParallelCollectionRDD, RDD}
import org.apache.spark.sql.catalyst.analysis.ResolvedInlineTable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.{ExternalRDD, LogicalRDD}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{FileFormat, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2._
import org.apache.spark.sql.execution.streaming.runtime.{MemoryStreamTable, StreamingRelation}
import org.apache.spark.sql.execution.streaming.sources.{MemoryPlan, RatePerMicroBatchTable, RateStreamTable}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import winops.spark.source.{OrderOfFiles, OrderOfTasks, Positioned, SourceOrder}

/** Finds the order that a source's rows have by its own rules. */
object Sources {

  /** Returns the order of a source's rows, if there is one. */
  def order(leaf: LeafNode): Option[SourceOrder] = leaf match {
    case _: Range | _: LocalRelation | _: OneRowRelation | _: ResolvedInlineTable |
        _: CommandResult | _: EmptyRelation | _: MemoryPlan =>
      Some(OrderOfTasks(leaf))
    case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => Some(OrderOfFiles(leaf))
    // A batch query reads Kafka by API V1 unless spark.sql.sources.useV1SourceList excludes it.
    case LogicalRelation(relation, _, _, _, _) if isOfKafka(relation) =>
      ofKafka(leaf, hasOneTopic = false)
    case streaming: StreamingRelation if readsFiles(streaming) => Some(OrderOfFiles(leaf))
    case relation: StreamingRelationV2 => ofTable(leaf, relation.table, relation.extraOptions)
    case scan: StreamingDataSourceV2ScanRelation =>
      ofTable(leaf, scan.relation.table, scan.relation.options)
    case relation: DataSourceV2Relation => ofTable(leaf, relation.table, relation.options)
    case scan: DataSourceV2ScanRelation =>
      ofTable(leaf, scan.relation.table, scan.relation.options)
    case rows: LogicalRDD if isLocal(rows.rdd) => Some(OrderOfTasks(leaf))
    case rows: ExternalRDD[_] if isLocal(rows.rdd) => Some(OrderOfTasks(leaf))
    case cached: InMemoryRelation => ofResult(leaf, cached.cacheBuilder.logicalPlan)
    case stage: LogicalQueryStage => ofResult(leaf, stage.logicalPlan)
    case _ => None
  }

  private def ofTable(
      leaf: LeafNode,
      table: Table,
      options: CaseInsensitiveStringMap): Option[SourceOrder] = table match {
    case _: FileTable => Some(OrderOfFiles(leaf))
    // Delta replaces the table by a relation of files during analysis.
    case _ if table.getClass.getName.startsWith(DeltaPackage) => Some(OrderOfFiles(leaf))
    case _: MemoryStreamTable => Some(OrderOfTasks(leaf))
    // The values are distributed round-robin over tasks.
    case _: RateStreamTable | _: RatePerMicroBatchTable => ofColumns(leaf, "value")
    case _ if isOfKafka(table) => ofKafka(leaf, hasOneTopic(options))
    case _ => None
  }

  private def isOfKafka(source: AnyRef): Boolean =
    source.getClass.getName.startsWith(KafkaPackage)

  private def ofKafka(leaf: LeafNode, hasOneTopic: Boolean): Option[SourceOrder] = {
    val topic = if (hasOneTopic) Nil else Seq("topic")
    ofColumns(leaf, topic ++ Seq("partition", "offset"): _*).map { order =>
      // A source with one topic includes the topic too, because a restart may add topics.
      order.copy(partitions = columns(leaf, "topic", "partition"))
    }
  }

  private val KafkaPackage = "org.apache.spark.sql.kafka010."
  private val DeltaPackage = "org.apache.spark.sql.delta."

  private def hasOneTopic(options: CaseInsensitiveStringMap): Boolean =
    Option(options.get("subscribe")).exists(topics => !topics.contains(","))

  private def ofColumns(leaf: LeafNode, names: String*): Option[Positioned] = {
    val positions = columns(leaf, names: _*)
    Option.when(positions.size == names.size)(Positioned(leaf, positions, isUnique = true))
  }

  private def columns(leaf: LeafNode, names: String*): Seq[Attribute] =
    names.flatMap(name => leaf.output.find(_.name == name))

  private def readsFiles(relation: StreamingRelation): Boolean = {
    val source = relation.dataSource.providingClass
    classOf[FileFormat].isAssignableFrom(source) || source.getName.startsWith(DeltaPackage)
  }

  /** The order of rows that were stored task by task. The file of each row is no longer known. */
  private def ofResult(leaf: LeafNode, stored: LogicalPlan): Option[SourceOrder] =
    SourceOrder.of(stored).toOption.collect { case OrderOfTasks(_) => OrderOfTasks(leaf) }

  /** Returns true if the rows come from a collection of the driver, one task after the other. */
  @annotation.tailrec
  private def isLocal(rows: RDD[_]): Boolean = rows match {
    case _: ParallelCollectionRDD[_] | _: EmptyRDD[_] => true
    case _ =>
      rows.dependencies match {
        case Seq(one: OneToOneDependency[_]) => isLocal(one.rdd)
        case _ => false
      }
  }
}
