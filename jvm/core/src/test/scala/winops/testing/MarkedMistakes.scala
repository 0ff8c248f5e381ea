package winops.testing

import org.scalatest.funsuite.AnyFunSuite
import winops.policy.{Category, PolicyError, Scope}
import winops.text.dialect.Dialect

/** Tests of errors whose texts mark the error: `^` precedes the offending token and is not part
  * of the text.
  */
trait MarkedMistakes extends AnyFunSuite {
  protected def dialect: Dialect
  protected def scope: Scope

  protected def refused(marked: String): PolicyError = refused(marked, scope)

  protected def refused(marked: String, scope: Scope): PolicyError = {
    val offset = marked.indexOf('^')
    val text = marked.patch(offset, "", 1)
    dialect.parse(text, scope) match {
      case Left(error) =>
        assert(error.offset == offset, s"$marked: ${error.message}\n${error.caret}")
        assert(error.text == text)
        assert(error.message.startsWith("expected") || error.message.startsWith("unexpected"))
        assert(error.message.length < 200, error.message)
        assert(dialect.parse(error.example, scope).isRight, error.example)
        error
      case Right(policy) => fail(s"$text was read as ${policy.text}")
    }
  }

  protected def all(category: Category)(marked: String*): Unit =
    marked.foreach(text => assert(refused(text).category == category, text))

  protected def messages(marked: (String, String)*): Unit = marked.foreach {
    case (text, message) => assert(refused(text).message.contains(message))
  }
}
