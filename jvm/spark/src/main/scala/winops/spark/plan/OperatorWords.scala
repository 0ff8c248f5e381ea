package winops.spark.plan

/** The words in which errors speak of an operator and of its arguments: those of the call that
  * has made it.
  *
  * @param operator
  *   the name of the operator
  * @param maxRows
  *   the argument that limits the rows of a group
  * @param fewerRows
  *   what makes groups hold fewer rows
  * @param nullTime
  *   the argument that decides about rows without a time
  * @param flush
  *   the argument and value that apply waiting rows at the end
  * @param noFlush
  *   what leaves them waiting
  */
final case class OperatorWords(
    operator: String,
    maxRows: String,
    fewerRows: String,
    nullTime: String,
    flush: String,
    noFlush: String)

object OperatorWords {
  val Keep: OperatorWords = OperatorWords(
    operator = "keep",
    maxRows = "max_rows",
    fewerRows = "keep fewer rows",
    nullTime = "on_null_time",
    flush = "at_end='flush' (in SQL at_end => 'flush')",
    noFlush = "omit at_end")

  val AsOfJoin: OperatorWords = Keep.copy(
    operator = "asof_join",
    maxRows = "max_rows of asof_join",
    fewerRows = "use a smaller tolerance or a smaller delay of the watermark")

  val Over: OperatorWords = OperatorWords(
    operator = "window functions",
    maxRows = "spark.winops.over.maxRows",
    fewerRows = "shorten the frames",
    nullTime = "spark.winops.over.nullTime",
    flush = "spark.winops.over.atEnd = flush",
    noFlush = "set it to wait")
}
