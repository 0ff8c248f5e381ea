package winops

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Dataset}
import org.apache.spark.sql.catalyst.expressions.{FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.winops.internal.Datasets

import winops.spark.{HistoryFunction, SparkVersion}

/** A call of the table function `with_history`. */
private[winops] object HistoryCall {
  def of(
      stream: Dataset[_],
      table: Dataset[_],
      emit: String,
      until: Option[Timestamp]): DataFrame = {
    Option(SparkVersion.mismatch()).foreach(throw _)
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
