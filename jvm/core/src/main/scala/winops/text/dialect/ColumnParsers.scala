package winops.text.dialect

/** Grammar of column names. A column name may follow the text's name for a row and a dot. */
trait ColumnParsers extends ExprParsers {
  protected def columnName: Parser[ColumnName] = {
    val part = name | expected("the name of a column")
    part ~ opt(symbol('.') ~> part) ^^ {
      case column ~ None => ColumnName(None, column)
      case row ~ Some(column) => ColumnName(Some(row), column)
    }
  }
}
