package winops.text.dialect

/** The grammar of columns that may stand behind a name for a row. */
trait ColumnParsers extends ExprParsers {
  protected def columnName: Parser[ColumnName] = {
    val part = name | expected("the name of a column")
    part ~ opt(symbol('.') ~> part) ^^ {
      case column ~ None => ColumnName(None, column)
      case row ~ Some(column) => ColumnName(Some(row), column)
    }
  }
}
