package winops.terms

/** The operation of a row with a primary key on its window, as a number. */
object RowOperation {

  /** Inserts a row of a key that the window does not hold. */
  val Insert = 0

  /** Gives new values to the row that the window holds. */
  val Update = 1

  /** Updates the row that the window holds, or inserts one. */
  val Upsert = 2

  /** Removes the row that the window holds. */
  val Delete = 3

  /** Stands for a word that names no operation. */
  val Unknown = -1

  /** The words of each operation: those of SQL, of Debezium, of change feeds in Spark and Delta,
    * and of the changes of a window.
    */
  val Words: Seq[(String, Int)] = Seq(
    "insert" -> Insert,
    "i" -> Insert,
    "c" -> Insert,
    "update" -> Update,
    "u" -> Update,
    "upsert" -> Upsert,
    "r" -> Upsert,
    "update_postimage" -> Upsert,
    "update_after" -> Upsert,
    "delete" -> Delete,
    "d" -> Delete,
    "update_preimage" -> Delete,
    "update_before" -> Delete)

  private val byWord = Words.toMap

  /** The operation of a word, ignoring case; [[Unknown]] if it has none. */
  def of(word: String): Int =
    byWord.getOrElse(word.toLowerCase(java.util.Locale.ROOT), Unknown)
}
