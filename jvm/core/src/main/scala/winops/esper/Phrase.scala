package winops.esper

import winops.policy.RowExpression

/** An expression in two languages.
  *
  * @param text
  *   in Esper's words, in one spelling
  * @param sql
  *   in the words of Spark SQL
  * @param rank
  *   how tightly it holds together, one of [[Rank]]
  * @param isConstant
  *   whether it asks nothing of a row or its window
  * @param column
  *   the column that it is, if it is nothing more
  */
private[esper] final case class Phrase(
    text: String,
    sql: String,
    rank: Int,
    isConstant: Boolean,
    column: Option[String] = None)
    extends Phrase.Item {

  /** What the policy carries of it, found at `offset`. */
  def expression(offset: Int): RowExpression = column match {
    case Some(name) => RowExpression.Column(name)(offset)
    case None => RowExpression.Computed(sql)(offset)
  }
}

private[esper] object Phrase {

  /** A part of an expression: an operand, or what stands between operands. */
  sealed trait Item

  /** What stands between operands in each language. */
  final case class Connective(text: String, sql: String) extends Item

  /** What stands between operands in both languages. */
  def both(words: String): Item = Connective(words, words)

  /** An operation: its parts with blanks between them.
    *
    * Operands that would come apart are in parentheses. For Spark these are all operations,
    * because it does not rank all operators as Esper does.
    */
  def operation(rank: Int, items: Item*): Phrase = Phrase(
    items
      .map {
        case Connective(text, _) => text
        case operand: Phrase => if (operand.rank > rank) operand.text else s"(${operand.text})"
      }
      .mkString(" "),
    items
      .map {
        case Connective(_, sql) => sql
        case operand: Phrase =>
          if (operand.rank == Rank.Atom) operand.sql else s"(${operand.sql})"
      }
      .mkString(" "),
    rank,
    items.forall {
      case operand: Phrase => operand.isConstant
      case _ => true
    })

  /** What is written alike in both languages and asks nothing of a row. */
  def constant(words: String, rank: Int = Rank.Atom): Phrase =
    Phrase(words, words, rank, isConstant = true)

  /** `before(one, two)`. */
  def list(before: String, phrases: Seq[Phrase]): Phrase = Phrase(
    phrases.map(_.text).mkString(s"$before(", ", ", ")"),
    phrases.map(_.sql).mkString(s"$before(", ", ", ")"),
    Rank.Atom,
    phrases.forall(_.isConstant))
}

/** How tightly Esper's operators bind, the loosest first. */
private[esper] object Rank {
  val Case = 0
  val Or = 1
  val And = 2
  val Bits = 3
  val Not = 4
  val Equality = 5
  val Comparison = 6
  val Concatenation = 7
  val Sum = 8
  val Product = 9
  val Minus = 10

  /** What nothing can take apart. */
  val Atom = 11
}
