package winops

import java.{util => ju}
import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Expression, FunctionTableSubqueryArgumentExpression, NamedArgumentExpression}
import org.apache.spark.sql.winops.internal.Datasets

import winops.spark.SparkVersion
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The functions of the package `winops` for callers in Java, where arguments have no names. */
object Winops {

  /** Keeps the rows of a table or a stream in windows defined by a policy in CCL.
    *
    * @param policy
    *   a text such as `KEEP 100 ROWS PER (symbol)`
    */
  def keep(df: Dataset[_], policy: String): Kept = keep(df, policy, options())

  /** Keeps rows in windows defined by a policy in CCL and further arguments. */
  def keep(df: Dataset[_], policy: String, options: KeepOptions): Kept =
    keep(df, WindowPolicy.ofText(policy), options)

  /** Keeps rows in windows defined by a policy, or the policies of several windows. */
  def keep(df: Dataset[_], policy: WindowPolicy): Kept = keep(df, policy, options())

  /** Keeps rows in windows defined by a policy and further arguments. */
  def keep(df: Dataset[_], policy: WindowPolicy, options: KeepOptions): Kept =
    new Kept(new KeepCall(df, Some(policy), options))

  /** Keeps rows in windows defined by `rows` or `interval`. */
  def keep(df: Dataset[_], options: KeepOptions): Kept =
    new Kept(new KeepCall(df, None, options))

  /** The arguments of `keep`, none of which is given yet. */
  def options(): KeepOptions = new KeepOptions(Map.empty)

  /** A policy in the language of Esper. */
  def esper(text: String): WindowPolicy = WindowPolicy.of(Esper.name, text)

  /** A policy in the language of Apama. */
  def apama(text: String): WindowPolicy = WindowPolicy.of(Apama.name, text)

  /** A policy in the language of IBM Streams. */
  def spl(text: String): WindowPolicy = WindowPolicy.of(Spl.name, text)

  /** Several windows over the same rows, with names and policies in CCL. */
  def windows(policies: ju.Map[String, String]): WindowPolicy = windows(Ccl.name, policies)

  /** Several windows over the same rows, with names and policies in one language.
    *
    * @param dialect
    *   `ccl`, `esper`, `apama` or `spl`
    */
  def windows(dialect: String, policies: ju.Map[String, String]): WindowPolicy =
    WindowPolicy.ofWindows(policies.asScala)(WindowPolicy.of(dialect, _))

  /** Puts the rows of a table before those of a stream, without output of their own. */
  def withHistory(stream: Dataset[_], table: Dataset[_]): DataFrame =
    winops.withHistory(stream, table)

  /** Puts the rows of a table before those of a stream.
    *
    * @param emit
    *   `none` or `all`: the rows of the table that have output
    */
  def withHistory(stream: Dataset[_], table: Dataset[_], emit: String): DataFrame =
    winops.withHistory(stream, table, emit)

  /** Puts the rows of a table before a time before those of a stream. */
  def withHistory(
      stream: Dataset[_],
      table: Dataset[_],
      emit: String,
      until: Timestamp): DataFrame =
    winops.withHistory(stream, table, emit, until)

  /** Joins each row with the newest row of another Dataset that is not behind in time.
    *
    * @param on
    *   the time column of both
    * @param by
    *   the columns of both that are equal
    */
  def asofJoin(left: Dataset[_], right: Dataset[_], on: String, by: ju.List[String]): DataFrame =
    winops.asofJoin(left, right, on, by = by.asScala.toSeq)

  /** The rows that the windows of a query hold after its last committed micro-batch. */
  def readState(spark: SparkSession, checkpoint: String): DataFrame =
    winops.readState(spark, checkpoint)

  /** The rows that the windows of a query held after a micro-batch. */
  def readState(spark: SparkSession, checkpoint: String, batch: Long): DataFrame =
    winops.readState(spark, checkpoint, batch)

  /** The rows that one `keep` of a query held after a micro-batch. */
  def readState(spark: SparkSession, checkpoint: String, batch: Long, operator: Long): DataFrame =
    winops.readState(spark, checkpoint, batch, operator)

  /** Writes a new checkpoint that continues a query with another number of partitions. */
  def repartition(spark: SparkSession, checkpoint: String, partitions: Int, to: String): Unit =
    winops.repartition(spark, checkpoint, partitions, to)

  /** Writes a new checkpoint that continues a query without the groups of a condition, and
    * returns their number.
    */
  def forget(spark: SparkSession, checkpoint: String, where: String, to: String): Long =
    winops.forget(spark, checkpoint, where, to)

  /** Writes a new checkpoint in which one `keep` of a query lacks the groups of a condition, and
    * returns their number.
    */
  def forget(
      spark: SparkSession,
      checkpoint: String,
      where: String,
      to: String,
      operator: Long): Long =
    winops.forget(spark, checkpoint, where, to, operator)

  /** Compares a query with the checkpoint of a former query. */
  def restartPlan(df: Dataset[_], checkpoint: String): DataFrame =
    winops.restartPlan(df, checkpoint)

  /** Compares a query with one operator of the checkpoint of a former query. */
  def restartPlan(df: Dataset[_], checkpoint: String, operator: Long): DataFrame =
    winops.restartPlan(df, checkpoint, operator)

  /** The rows of a table function over a query. */
  private[winops] def callOver(
      df: Dataset[_],
      function: String,
      places: Seq[Any],
      named: Seq[(String, Any)]): DataFrame = {
    val query = FunctionTableSubqueryArgumentExpression(Datasets.planOf(df))
    call(df.sparkSession, function, query +: literals(function, places, named))
  }

  /** The rows of a table function over a checkpoint. */
  private[winops] def call(
      spark: SparkSession,
      function: String,
      places: Seq[Any],
      named: Seq[(String, Any)]): DataFrame = {
    call(spark, function, literals(function, places, named))
  }

  private def call(
      spark: SparkSession,
      function: String,
      arguments: Seq[Expression]): DataFrame = {
    Option(SparkVersion.mismatch()).foreach(throw _)
    Datasets.ofFunction(spark, function, arguments)
  }

  private def literals(
      function: String,
      places: Seq[Any],
      named: Seq[(String, Any)]): Seq[Expression] =
    places.map(KeepCall.literal(function, _)) ++ named.map { case (name, value) =>
      NamedArgumentExpression(name, KeepCall.literal(name, value))
    }
}
