package winops

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Dataset}
import org.apache.spark.sql.catalyst.expressions.{FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.winops.internal.Datasets

import winops.spark.{HistoryFunction, SparkVersion}

/** A call of the table function `with_history`. */
private[winops] final class HistoryCall(
    stream: Dataset[_],
    table: Dataset[_],
    emit: String,
    until: Option[Timestamp]) {
  Option(SparkVersion.mismatch()).foreach(throw _)

  /** The rows of the stream, after those of the table. */
  def rows: DataFrame = {
    val tables = Seq(stream, table).map { rows =>
      FunctionTableSubqueryArgumentExpression(Datasets.planOf(rows))
    }
    val named = ("emit" -> Literal(emit)) +: until.map("until" -> Literal(_)).toSeq
    Datasets.ofFunction(
      stream.sparkSession,
      HistoryFunction.Name,
      tables ++ named.map { case (name, value) => NamedArgumentExpression(name, value) })
  }
}
