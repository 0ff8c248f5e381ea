package winops.policy

/** An error that refuses the text of a policy.
  *
  * @param category
  *   kind of the mistake
  * @param message
  *   what was expected at the place of the mistake; the message does not name the place
  * @param text
  *   text as the user gave it
  * @param offset
  *   place of the mistake: an index into `text`, at most its length
  * @param example
  *   a valid policy of the same dialect
  * @param unknownColumn
  *   the named column that the rows do not have, if that is the mistake
  * @param meantDialect
  *   the name of another dialect, if the text is probably written in it
  */
final case class PolicyError(
    category: Category,
    message: String,
    text: String,
    offset: Int,
    example: String,
    unknownColumn: Option[String] = None,
    meantDialect: Option[String] = None) {

  /** 1-based line of the mistake. */
  def line: Int = 1 + text.take(offset).count(_ == '\n')

  /** 1-based column of the mistake in its line. */
  def column: Int = offset - lineStart + 1

  /** The line of the mistake, and below it a caret at the place. Cuts the line to 60 characters
    * on each side of the place.
    */
  def caret: String = {
    val lineEnd = text.indexOf('\n', offset) match {
      case -1 => text.length
      case end => end
    }
    val from = math.max(lineStart, offset - PolicyError.ContextChars)
    val until = math.min(lineEnd, offset + PolicyError.ContextChars)
    val shown = text.substring(from, until).map(c => if (c.isControl) ' ' else c)
    s"$shown\n${" " * (offset - from)}^"
  }

  private def lineStart: Int = text.lastIndexOf('\n', offset - 1) + 1
}

object PolicyError {
  private val ContextChars = 60
}

/** The kind of a mistake in a policy's text.
  *
  * @param name
  *   spelling in error conditions and tests
  */
sealed abstract class Category(val name: String)

object Category {
  case object Syntax extends Category("syntax")
  case object Type extends Category("type")
  case object Range extends Category("range")
  case object Unit extends Category("unit")
  case object DuplicateUnit extends Category("duplicate-unit")
  case object SlackWithEvery extends Category("slack-every")
  case object SlackWithTime extends Category("slack-time")
  case object DuplicateColumn extends Category("duplicate-column")
  case object UnknownColumn extends Category("unknown-column")
  case object UnboundParameter extends Category("unbound-parameter")

  /** An unbounded window where the dialect needs a bound. */
  case object Unbounded extends Category("unbounded")

  /** A window or clause that does not exist, or that is not allowed at its place. */
  case object Policy extends Category("policy")

  /** A partitioned window without a key, or a key without a partitioned window. */
  case object PartitionKey extends Category("partition-key")

  /** A feature that the product has and this library does not support. */
  case object Unsupported extends Category("unsupported")

  /** A text that exceeds the parser's limits on length, nesting depth or size. */
  case object Limit extends Category("limit")

  val all: Seq[Category] = Seq(
    Syntax,
    Type,
    Range,
    Unit,
    DuplicateUnit,
    SlackWithEvery,
    SlackWithTime,
    DuplicateColumn,
    UnknownColumn,
    UnboundParameter,
    Unbounded,
    Policy,
    PartitionKey,
    Unsupported,
    Limit)
}
