package winops.text.esper

import winops.policy.{Category, Named}
import winops.terms.{RowExpression, StepOrder, Stream}
import winops.text.dialect.{Names, Problem, Token}

/** Grammar of the select clause: the selector, and the rows or values that it emits. */
private[esper] trait SelectParsers extends ViewParsers {
  import SelectParsers._

  /** Returns true if the name is one of the stream's names. */
  protected def isPrefix(name: String): Boolean

  /** The changes that a statement emits. Esper: the default is the inserts. */
  protected def selector: Parser[Stream] = {
    def only(inserts: Boolean, deletes: Boolean) =
      Stream(inserts, deletes, StepOrder.InsertsFirst)
    keyword("IRSTREAM") ^^^ only(inserts = true, deletes = true) |
      keyword("RSTREAM") ^^^ only(inserts = false, deletes = true) |
      opt(keyword("ISTREAM")) ^^^ only(inserts = true, deletes = false)
  }

  /** The columns of a select list, or None for `*`. */
  protected def selected: Parser[Option[Seq[Item]]] = {
    val distinct = guard(keyword("DISTINCT")) ~>
      missing(Category.Unsupported, "no distinct, which is not supported")
    guard(end | keyword("FROM")) ~> expected("* or aggregates") | distinct |
      everything ^^^ None | columns <~ listEnd >> { items =>
        checked(withoutCalls(items).orElse(repeated(items)).toLeft(Some(items)))
      }
  }

  /** The keys of GROUP BY after a select list. */
  protected def grouping: Parser[Written[Seq[RowExpression]]] = {
    val sets = guard(keyword("ROLLUP", "CUBE", "GROUPING") ~ (symbol('(') | keyword("SETS"))) ~>
      missing(Category.Unsupported, "a column or an expression; grouping sets are not supported")
    val by = keyword("GROUP") ~> (keyword("BY") | expected("by")) ~> (sets | keys)
    opt(by) ^^ (_.getOrElse(Written(Nil, Nil)))
  }

  private def everything: Parser[Any] = {
    val prefix =
      accept("a name of the stream", { case name: Token.Named if isPrefix(name.name) => name })
    val star = opt(prefix ~ symbol('.')) ~> symbol('*')
    ahead(star) ~> star <~ opt(guard(symbol(',')) ~> missing(Category.Unsupported, Everything))
  }

  private def listEnd: Parser[Any] =
    guard(keyword("FROM")) | expected("an operator, a name, a comma or from")

  private def item: Parser[Item] = {
    val value = guard(symbol('*')) ~> missing(Category.Unsupported, s"no *; $Alone") |
      phrase("a column, an aggregate or an expression", inCondition = false)
    place ~ value ~ opt(ownName) ^^ { case offset ~ value ~ name =>
      new Item(value, name, offset)
    }
  }

  private def ownName: Parser[Token.Named] = {
    val bare = accept(
      "a name",
      {
        case word: Token.Word if Names.upper(word.text) != "FROM" => word
        case quoted: Token.Quoted => quoted
      })
    keyword("AS") ~>
      (accept("a name", { case name: Token.Named => name }) | expected("a name")) | bare
  }

  private def columns: Parser[List[Item]] = listed(item, "columns")

  /** Refuses a list without function calls. Spark checks later if a call is one of an aggregate.
    */
  private def withoutCalls(items: Seq[Item]): Option[Problem] =
    Option.when(!items.exists(_.value.hasCall)) {
      Problem(Category.Unsupported, items.head.offset, s"expected * or aggregates; $Alone")
    }

  /** Esper: the names in a list are distinct. */
  private def repeated(items: Seq[Item]): Option[Problem] = {
    val firsts = items.groupMapReduce(_.name)(identity)((first, _) => first)
    items.find(item => firsts(item.name) ne item).map { item =>
      Problem(
        Category.DuplicateColumn,
        item.nameOffset,
        s"expected each name at most once; ${Names.shown(item.name)} is repeated")
    }
  }
}

private[esper] object SelectParsers {

  /** One column of a select list. */
  final class Item(val value: Phrase, alias: Option[Token.Named], val offset: Int) {

    /** Esper: the default name of a column is the text of its expression. */
    val name: String = alias.fold(value.name)(_.name)

    def nameOffset: Int = alias.fold(offset)(_.offset)

    def column: Written[Named] = {
      val renamed = Option.when(name != value.name)(s" as ${Words.quoted(name)}")
      Written(
        Named(name, value.expression(offset)),
        Seq(s"${value.text}${renamed.getOrElse("")}"))
    }
  }

  private val Alone = "columns of rows are selected by * alone, or beside aggregates and group by"

  private val Everything = "* alone; aggregates have a list of their own"
}
