package winops.policy

/** Why a policy's text is refused.
  *
  * @param category
  *   what kind of mistake it is
  * @param message
  *   what was expected at the place, without the place
  * @param text
  *   the text as it was given
  * @param offset
  *   the place of the mistake: an index into `text`, at most its length
  * @param example
  *   a policy of the same dialect that is valid
  */
final case class PolicyError(
    category: Category,
    message: String,
    text: String,
    offset: Int,
    example: String) {

  /** The line of the mistake, counted from 1. */
  def line: Int = 1 + text.take(offset).count(_ == '\n')

  /** The column of the mistake in its line, counted from 1. */
  def column: Int = offset - lineStart + 1

  /** The line of the mistake with a caret under the place, cut to what fits on a screen. */
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

/** The kinds of mistakes in a policy's text; `name` is how error conditions and tests spell it.
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

  /** A window that nothing bounds, where a bound is needed. */
  case object Unbounded extends Category("unbounded")

  /** A window or a clause where it may not stand, or that does not exist. */
  case object Policy extends Category("policy")

  /** A partitioned window without a key, or a key without a partitioned window. */
  case object PartitionKey extends Category("partition-key")

  /** What the product has and this library does not. */
  case object Unsupported extends Category("unsupported")

  /** The text is longer, deeper or larger than the parser agrees to read. */
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
