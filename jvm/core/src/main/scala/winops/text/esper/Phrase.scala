package winops.text.esper

import winops.policy.RowExpression

/** An expression in two languages.
  *
  * @param text
  *   in Esper's words, in one spelling
  * @param sql
  *   in the words of Spark SQL
  * @param name
  *   what Esper calls a column that it is in: the expression without blanks that it can do
  *   without
  * @param rank
  *   how tightly it holds together, one of [[Rank]]
  * @param isConstant
  *   whether it asks nothing of a row or its window
  * @param column
  *   the column that it is, if it is nothing more
  * @param hasCall
  *   whether a function is called in it: only Spark knows which functions are aggregates
  * @param number
  *   the number that it is, if it is written as one
  */
private[esper] final case class Phrase(
    text: String,
    sql: String,
    name: String,
    rank: Int,
    isConstant: Boolean,
    column: Option[String] = None,
    hasCall: Boolean = false,
    number: Option[BigDecimal] = None)
    extends Phrase.Item {

  /** One of its spellings, in parentheses where an operation of the rank would take it apart. */
  private def within(outer: Int, spelled: String): String =
    if (rank > outer) spelled else s"($spelled)"

  /** Its SQL as an operand: in parentheses unless nothing can take it apart. */
  private def asOperand: String = if (rank == Rank.Atom) sql else s"($sql)"

  /** What the policy carries of it, found at `offset`. */
  def expression(offset: Int): RowExpression = column match {
    case Some(exact) => RowExpression.Column(exact)(offset)
    case None => RowExpression.Computed(sql)(offset)
  }
}

private[esper] object Phrase {

  /** A part of an expression: an operand, or what stands between operands. */
  sealed trait Item

  /** What stands between operands in each language. */
  final case class Connective(text: String, sql: String) extends Item {
    private[Phrase] def isWord: Boolean = text.exists(Character.isLetter)
  }

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
        case operand: Phrase => operand.within(rank, operand.text)
      }
      .mkString(" "),
    items
      .map {
        case Connective(_, sql) => sql
        case operand: Phrase => operand.asOperand
      }
      .mkString(" "),
    named(rank, items),
    rank,
    items.forall {
      case operand: Phrase => operand.isConstant
      case _ => true
    },
    hasCall = items.exists {
      case operand: Phrase => operand.hasCall
      case _ => false
    })

  /** Whether a value is within a range. Esper takes the smaller end for the low one, whichever is
    * written first; the SQL of a range whose ends are not known repeats the value and both ends.
    */
  def inRange(value: Phrase, range: Range, isNegated: Boolean): Phrase = {
    val not = if (isNegated) "not " else ""
    val low = if (range.hasLow) ">=" else ">"
    val high = if (range.hasHigh) "<=" else "<"
    def between(from: Phrase, to: Phrase): String = {
      val (v, f, t) = (value.asOperand, from.asOperand, to.asOperand)
      if (range.isClosed) s"$v between $f and $t" else s"$v $low $f and $v $high $t"
    }
    val isWithin = range.ends.flatMap(_.number) match {
      case Seq(from, to) if from <= to => between(range.from, range.to)
      case Seq(_, _) => between(range.to, range.from)
      case _ => s"(${between(range.from, range.to)}) or (${between(range.to, range.from)})"
    }
    val words =
      operation(Rank.Comparison, value, both(s"${not}between"), range.from, both("and"), range.to)
    val text =
      if (range.isClosed) words.text
      else {
        val open = if (range.hasLow) "[" else "("
        val close = if (range.hasHigh) "]" else ")"
        val inside = s"$open${range.from.text}:${range.to.text}$close"
        s"${value.within(Rank.Comparison, value.text)} ${not}in $inside"
      }
    words.copy(text = text, sql = if (isNegated) s"not ($isWithin)" else isWithin)
  }

  /** The ends of a range, and whether they belong to it. */
  final case class Range(from: Phrase, to: Phrase, hasLow: Boolean, hasHigh: Boolean) {
    def isClosed: Boolean = hasLow && hasHigh
    def ends: Seq[Phrase] = Seq(from, to)
  }

  /** An aggregate of the rows for which a condition holds, or of all rows.
    *
    * @param name
    *   what Esper calls it
    * @param function
    *   what Spark calls it
    */
  def aggregate(name: String, function: String, of: Phrase, filter: Option[Phrase]): Phrase = {
    val whole = list(name, of +: filter.toSeq)
    val where = filter.fold("")(condition => s" filter (where ${condition.sql})")
    whole.copy(
      sql = s"$function(${of.sql})$where",
      name = (of +: filter.toSeq).map(_.name).mkString(s"$function(", ",", ")"))
  }

  /** What is written alike in both languages and asks nothing of a row. */
  def constant(words: String, rank: Int = Rank.Atom): Phrase =
    Phrase(words, words, words, rank, isConstant = true)

  /** `before(one, two)`. */
  def list(before: String, phrases: Seq[Phrase]): Phrase = Phrase(
    phrases.map(_.text).mkString(s"$before(", ", ", ")"),
    phrases.map(_.sql).mkString(s"$before(", ", ", ")"),
    phrases.map(_.name).mkString(s"$before(", ",", ")"),
    Rank.Atom,
    phrases.forall(_.isConstant),
    hasCall = before.nonEmpty || phrases.exists(_.hasCall))

  /** Esper leaves blanks around words alone. */
  private def named(rank: Int, items: Seq[Item]): String = {
    def isWord(item: Item) = item match {
      case connective: Connective => connective.isWord
      case _ => false
    }
    val blanks = items.zip(items.drop(1)).map { case (left, right) =>
      if (isWord(left) || isWord(right)) " " else ""
    }
    items
      .zip(blanks :+ "")
      .flatMap { case (item, blank) =>
        val name = item match {
          case Connective(text, _) => text
          case operand: Phrase => operand.within(rank, operand.name)
        }
        Seq(name, blank)
      }
      .mkString
  }
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
