package winops

import scala.language.implicitConversions

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.col

import winops.spark.internal.WinopsErrors

/** One or more columns, as an argument of `keep`.
  *
  * A name, a Column and a collection of either are converted to it, so `orderBy = "seq"`,
  * `orderBy = $"seq".desc`, `orderBy = Seq("day", "seq")` and
  * `orderBy = Seq($"day", $"seq".desc)` are valid. A name is the whole name of a column, also
  * with dots; `$"a.b"` is the field of a struct.
  */
final class Columns private (private[winops] val all: Seq[Column]) {

  /** The columns, with commas between them. */
  override def toString: String = all.mkString(", ")
}

object Columns {

  /** The column of a name. */
  implicit def ofName(name: String): Columns = ofNames(Seq(name))

  /** A column or an expression. */
  implicit def ofColumn(column: Column): Columns = ofColumns(Seq(column))

  /** The columns of one or more names. */
  implicit def ofNames(names: Iterable[String]): Columns = ofColumns(names.map(named))

  /** One or more columns or expressions. */
  implicit def ofColumns(columns: Iterable[Column]): Columns =
    if (columns.nonEmpty) new Columns(columns.toSeq)
    else {
      throw WinopsErrors.argument(
        "VALUE",
        "An empty list of columns",
        "one or more columns, or leave the argument out")
    }

  private[winops] def named(name: String): Column = col(s"`${name.replace("`", "``")}`")
}
