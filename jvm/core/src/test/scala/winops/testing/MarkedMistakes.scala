package winops.testing

import winops.policy.{Category, PolicyError, Scope}
import winops.text.dialect.Dialect

/** Tests of errors whose texts mark the error: `^` precedes the offending token and is not part
  * of the text.
  */
trait MarkedMistakes extends TableTests {
  protected def dialect: Dialect
  protected def scope: Scope

  /** Messages are shorter than this number of characters. */
  protected def messageLength: Int = 200

  protected def refused(marked: String): PolicyError = refused(marked, scope)

  protected def refused(marked: String, scope: Scope): PolicyError = {
    val offset = marked.indexOf('^')
    val text = marked.patch(offset, "", 1)
    dialect.parse(text, scope) match {
      case Left(error) =>
        assert(error.offset == offset, s"$marked: ${error.message}\n${error.caret}")
        assert(error.text == text)
        assert(error.message.startsWith("expected") || error.message.startsWith("unexpected"))
        assert(error.message.length < messageLength, error.message)
        assert(dialect.parse(error.example, scope).isRight, error.example)
        error
      case Right(policy) => fail(s"$text was read as ${policy.text}")
    }
  }

  protected def all(name: String, category: Category)(marked: String*): Unit =
    testEach(name)(marked: _*)(text => assert(refused(text).category == category))

  protected def messages(name: String)(marked: (String, String)*): Unit =
    testEach(s"$name, in words")(marked: _*) { case (text, part) =>
      assert(refused(text).message.contains(part))
    }
}
