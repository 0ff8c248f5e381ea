package winops.text.esper

import winops.policy.Category
import winops.text.dialect.{Names, Problem, Token}

/** Grammar of the windows of a chain. */
private[esper] trait ViewParsers extends WindowTable {

  /** A window with its parameters and, as in older statements, an optional namespace. */
  protected def view: Parser[View] = opt(namespace) >> viewIn

  /** A window with its namespace and parameters. */
  protected def viewInNamespace: Parser[View] =
    (namespace | expected("win, std, ext or stat and a colon")) >> (space => viewIn(Some(space)))

  /** A namespace and the colon behind it. */
  protected def namespace: Parser[Token.Word] = {
    val name = accept("a namespace", { case token: Token.Word => token })
    ahead(name ~ symbol(':')) ~> name <~ symbol(':')
  }

  private def viewIn(namespace: Option[Token.Word]): Parser[View] = {
    val name = accept("a window", { case token: Token.Word => token }) | expected("a window")
    name >> { token =>
      checked(line(namespace, token)) >> (_.parameters) ^^ { read =>
        View(token.text, read.text, read.value, token.offset)
      }
    }
  }

  private def line(namespace: Option[Token.Word], name: Token.Word): Either[Problem, Line] =
    table.find(_.name == name.text) match {
      case None => Left(unknown(name))
      case Some(line) =>
        namespace
          .find(_.text != line.namespace)
          .map { token =>
            val meant = s"${line.namespace}:${line.name}"
            Problem(Category.Policy, token.offset, s"expected $meant")
          }
          .toLeft(line)
    }

  private def unknown(name: Token.Word): Problem = {
    def plain(word: String) = Words.lower(word.filter(_ != '_'))
    val hint = table.find(line => plain(line.name) == plain(name.text)) match {
      case Some(line) => s"did you mean ${line.name}?"
      case None => s"the windows are ${table.map(_.name).sorted.mkString(", ")}"
    }
    Problem(
      Category.Policy,
      name.offset,
      s"expected a window; there is no ${Names.shown(name.text)}: $hint")
  }
}
