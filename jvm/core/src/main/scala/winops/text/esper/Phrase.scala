package winops.text.esper

import winops.terms.RowExpression

/** An expression in Esper's language and in Spark SQL.
  *
  * @param text
  *   canonical text in Esper's language
  * @param sql
  *   text in Spark SQL
  * @param name
  *   Esper's name for a column of the expression: the expression without dispensable blanks
  * @param rank
  *   precedence of the outermost operator, one of [[Rank]]
  * @param isConstant
  *   true if the expression reads nothing of a row or its window
  * @param column
  *   name of the column if the expression is a column alone
  * @param hasCall
  *   true if the expression calls a function; only Spark knows which functions are aggregates
  * @param number
  *   value of the expression if it is a literal number
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

  /** One of the expression's spellings, in parentheses unless it binds tighter than `outer`. */
  private def within(outer: Int, spelled: String): String =
    if (rank > outer) spelled else s"($spelled)"

  /** The SQL of the expression as an operand: in parentheses unless it is an atom. */
  private def asOperand: String = if (rank == Rank.Atom) sql else s"($sql)"

  /** The expression in the form that a policy carries.
    *
    * @param offset
    *   place of the expression in the text
    */
  def expression(offset: Int): RowExpression = column match {
    case Some(exact) => RowExpression.Column(exact)(offset)
    case None => RowExpression.Computed(sql)(offset)
  }
}

private[esper] object Phrase {

  /** A part of an operation: an operand, or the words between operands. */
  sealed trait Item

  /** The words between operands in each language. */
  final case class Connective(text: String, sql: String) extends Item {
    private[Phrase] def isWord: Boolean = text.exists(Character.isLetter)
  }

  /** Words between operands that are the same in both languages. */
  def both(words: String): Item = Connective(words, words)

  /** An operation: its parts with blanks between them.
    *
    * In Esper's text, only operands that do not bind tighter than the operation are in
    * parentheses. In SQL all operands but atoms are in parentheses, because Spark ranks some
    * operators in another way than Esper.
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

  /** The test that a value is in a range. Esper takes the smaller end as the low one, in
    * whichever order the text has the ends. If the ends are not literal numbers, the SQL tests
    * both orders and so repeats the value and both ends.
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

  /** The ends of a range.
    *
    * @param hasLow
    *   true if the low end belongs to the range
    * @param hasHigh
    *   true if the high end belongs to the range
    */
  final case class Range(from: Phrase, to: Phrase, hasLow: Boolean, hasHigh: Boolean) {
    def isClosed: Boolean = hasLow && hasHigh
    def ends: Seq[Phrase] = Seq(from, to)
  }

  /** An aggregate over the rows that meet a condition, or over all rows.
    *
    * @param name
    *   Esper's name of the function
    * @param function
    *   Spark's name of the function
    * @param of
    *   argument of the function
    * @param filter
    *   condition on the rows
    */
  def aggregate(name: String, function: String, of: Phrase, filter: Option[Phrase]): Phrase = {
    val whole = list(name, of +: filter.toSeq)
    val where = filter.fold("")(condition => s" filter (where ${condition.sql})")
    whole.copy(
      sql = s"$function(${of.sql})$where",
      name = (of +: filter.toSeq).map(_.name).mkString(s"$function(", ",", ")"))
  }

  /** A constant with the same spelling in both languages. */
  def constant(words: String, rank: Int = Rank.Atom): Phrase =
    Phrase(words, words, words, rank, isConstant = true)

  /** A list in parentheses: `before(one, two)`. */
  def list(before: String, phrases: Seq[Phrase]): Phrase = Phrase(
    phrases.map(_.text).mkString(s"$before(", ", ", ")"),
    phrases.map(_.sql).mkString(s"$before(", ", ", ")"),
    phrases.map(_.name).mkString(s"$before(", ",", ")"),
    Rank.Atom,
    phrases.forall(_.isConstant),
    hasCall = before.nonEmpty || phrases.exists(_.hasCall))

  /** Esper's name for a column of an operation. Esper keeps blanks only beside words. */
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

/** The precedence of Esper's operators, the loosest first. */
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

  /** An expression that never needs parentheses. */
  val Atom = 11
}
