package winops

import org.apache.spark.sql.{DataFrame, Dataset}
import org.apache.spark.sql.catalyst.expressions.{FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.types.{ArrayType, StringType}
import org.apache.spark.sql.winops.internal.Datasets

import winops.spark.{AsOfFunction, SparkVersion}

/** A call of the table function `asof_join`.
  *
  * @param arguments
  *   the other arguments by their names in SQL: texts, sequences of texts, numbers and Booleans
  */
private[winops] final class AsOfCall(
    left: Dataset[_],
    right: Dataset[_],
    arguments: Seq[(String, Any)]) {
  Option(SparkVersion.mismatch()).foreach(throw _)

  /** The rows of the left side with their matches. */
  def rows: DataFrame = {
    val tables = Seq(left, right).map { side =>
      FunctionTableSubqueryArgumentExpression(Datasets.planOf(side))
    }
    val named = arguments.map { case (name, value) =>
      NamedArgumentExpression(name, literal(value))
    }
    Datasets.ofFunction(left.sparkSession, AsOfFunction.Name, tables ++ named)
  }

  private def literal(value: Any): Literal = value match {
    case names: Seq[_] => Literal.create(names.map(_.toString), ArrayType(StringType))
    case other => Literal(other)
  }
}
