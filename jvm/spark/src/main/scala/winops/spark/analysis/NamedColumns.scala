package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

/** Finds columns by the names that arguments have. */
private[spark] object NamedColumns {

  /** The column of this name; None if there is none, or several ones. */
  def find(name: String, columns: Seq[Attribute]): Option[Attribute] =
    all(name, columns) match {
      case Seq(column) => Some(column)
      case _ => None
    }

  /** The columns of this name. */
  def all(name: String, columns: Seq[Attribute]): Seq[Attribute] =
    columns.filter(column => SQLConf.get.resolver(column.name, name))

  /** The column of this name.
    *
    * @param argument
    *   the argument that names the column
    * @param input
    *   the input with the columns, in an error
    * @param instead
    *   what to write instead of another column, in an error
    * @throws AnalysisException
    *   `WINOPS_UNKNOWN_COLUMN` if there is none, or several ones
    */
  def of(
      argument: String,
      name: String,
      columns: Seq[Attribute],
      input: String = "The input",
      instead: String = ""): Attribute =
    find(name, columns).getOrElse {
      throw WinopsErrors.unknownColumn(argument, name, columns, input, instead)
    }
}
