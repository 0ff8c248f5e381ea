package org.apache.spark.sql.kafka010

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.connector.catalog.{Table, TableCapability}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A table with the package and the columns of Spark's Kafka source, which is not on the class
  * path of these tests.
  */
final class KafkaLikeTable extends Table {
  override def name: String = "records"

  override def schema: StructType = KafkaLikeTable.Schema

  override def capabilities: util.Set[TableCapability] = util.Set.of(TableCapability.BATCH_READ)
}

/** The relation that Spark creates for a batch read of Kafka. */
final class KafkaLikeRelation(override val sqlContext: SQLContext) extends BaseRelation {
  override def schema: StructType = KafkaLikeTable.Schema
}

object KafkaLikeTable {

  /** A read of the table with options such as `subscribe`. */
  def relation(options: (String, String)*): DataSourceV2Relation = DataSourceV2Relation.create(
    new KafkaLikeTable,
    None,
    None,
    new CaseInsensitiveStringMap(options.toMap.asJava))

  private[kafka010] val Schema: StructType = StructType.fromDDL(
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP")
}
