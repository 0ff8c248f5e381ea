package winops.spark.analysis

import java.nio.file.{Files, Path}

import winops.policy.{ColumnKind, Scope}
import winops.text.dialect.Dialect

/** Generates the documentation page of all windows from the dialects' own lists and the policies'
  * descriptions.
  */
object WindowsPage {
  private val scope = Scope(
    columns = Seq("symbol", "price", "ts"),
    kinds = Map(
      "symbol" -> ColumnKind.Other,
      "price" -> ColumnKind.RealNumber,
      "ts" -> ColumnKind.Timestamp))

  /** Writes the page to the given file. */
  def main(arguments: Array[String]): Unit = {
    val _ = Files.writeString(Path.of(arguments(0)), text)
  }

  def text: String = {
    val introduction = Seq(
      "# All windows",
      "",
      "To describe a policy in one sentence, call `describe()`:",
      "",
      "```python",
      "from winops import keep",
      "",
      """trades = spark.createDataFrame([(1, "A")], "seq long, symbol string")""",
      """print(keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq").describe())""",
      "```",
      "",
      "```text",
      "For each `symbol`, keeps the newest 2 rows.",
      "```",
      "",
      "The tables list an example and its description for each window. They are generated from the",
      "code by `make docs`.")
    (introduction ++ Dialects.all.flatMap(table)).mkString("", "\n", "\n")
  }

  private def table(dialect: Dialect): Seq[String] = {
    val rows = dialect.windows.map { window =>
      row(window.name, s"`${window.text}`", described(dialect, window.text))
    }
    Seq("", s"## ${dialect.product}", "", row("Window", "Example", "Description")) ++
      ("|---|---|---|" +: rows)
  }

  private def row(cells: String*): String = cells.mkString("| ", " | ", " |")

  private def described(dialect: Dialect, text: String): String =
    dialect
      .parse(text, scope)
      .fold(error => throw new IllegalStateException(s"$text: ${error.message}"), _.describe)
}
