package winops.spark.internal

import org.apache.spark.ErrorClassesJsonReader
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.winops.internal.{ErrorConditions, WinopsRuntimeException}

import winops.policy.PolicyError

/** Creates winops errors. Their texts are in `error/winops-error-conditions.json`. */
object WinopsErrors {
  private lazy val conditions = new ErrorClassesJsonReader(
    Seq(getClass.getClassLoader.getResource("error/winops-error-conditions.json")))

  /** Registers the conditions with Spark. */
  def register(): Unit = ErrorConditions.add(conditions)

  def sqlState(condition: String): String = conditions.getSqlState(condition)

  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${conditions.getErrorMessage(condition, parameters)} " +
      s"SQLSTATE: ${sqlState(condition)}"

  def template(condition: String): String = conditions.getMessageTemplate(condition)

  def analysis(condition: String, parameters: (String, String)*): AnalysisException =
    new WinopsAnalysisException(condition, parameters.toMap)

  def runtime(condition: String, parameters: (String, String)*): WinopsRuntimeException =
    new WinopsRuntimeException(condition, parameters.toMap)

  def policy(dialect: String, error: PolicyError): AnalysisException =
    new WinopsAnalysisException(
      s"WINOPS_POLICY.${conditionName(error)}",
      Map(
        "dialect" -> dialect,
        "message" -> error.message,
        "line" -> error.line.toString,
        "column" -> error.column.toString,
        "caret" -> error.caret,
        "example" -> error.example),
      Some(error))

  def argument(kind: String, name: String, expected: String): AnalysisException =
    analysis(s"WINOPS_ARGUMENT.$kind", "name" -> name, "expected" -> expected)

  /** The error for a column that the input does not have, or has more than once.
    *
    * @param argument
    *   the argument that names the column
    * @param input
    *   the input with the columns
    * @param instead
    *   what to write instead of another column, behind the columns
    */
  def unknownColumn(
      argument: String,
      name: String,
      columns: Seq[Attribute],
      input: String = "The input",
      instead: String = ""): AnalysisException =
    analysis(
      "WINOPS_UNKNOWN_COLUMN",
      "input" -> input,
      "argument" -> argument,
      "found" -> found("column", name, columns),
      "columns" -> (columns.map(_.name).mkString(", ") + instead))

  /** The number of columns of a name, in words such as `no column k`.
    *
    * @param kind
    *   the word for such a column
    */
  def found(kind: String, name: String, columns: Seq[Attribute]): String = {
    val count = columns.count(column => SQLConf.get.resolver(column.name, name))
    if (count > 1) s"$count ${kind}s $name" else s"no $kind $name"
  }

  private def conditionName(error: PolicyError): String =
    error.category.name.replace('-', '_').toUpperCase(java.util.Locale.ROOT)
}
