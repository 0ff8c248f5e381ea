package org.apache.spark.kafka010

import java.util.{HashMap, Map => JavaMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf

// What Spark's Kafka source asks of its module for delegation tokens. That module is not in every
// registry, and brings all of Hadoop's client along; a broker on the loopback wants no tokens.

private[kafka010] final class KafkaConfigUpdater(
    module: String,
    parameters: Map[String, Object]) {
  private val values = new HashMap[String, Object](parameters.asJava)

  def set(key: String, value: Object): KafkaConfigUpdater = {
    values.put(key, value)
    this
  }

  def setIfUnset(key: String, value: Object): KafkaConfigUpdater = {
    values.putIfAbsent(key, value)
    this
  }

  def setAuthenticationConfigIfNeeded(): KafkaConfigUpdater = this
  def setAuthenticationConfigIfNeeded(tokens: Option[AnyRef]): KafkaConfigUpdater = this
  def build(): JavaMap[String, Object] = values
  override def toString: String = s"configuration of $module"
}

private[kafka010] object KafkaTokenUtil {
  def findMatchingTokenClusterConfig(conf: SparkConf, servers: String): Option[AnyRef] = None
  def needTokenUpdate(parameters: JavaMap[String, Object], tokens: Option[AnyRef]): Boolean =
    false
}

private[kafka010] object KafkaRedactionUtil {
  def redactParams(parameters: Seq[(String, Object)]): Seq[(String, String)] =
    parameters.map { case (name, value) => (name, String.valueOf(value)) }
}
