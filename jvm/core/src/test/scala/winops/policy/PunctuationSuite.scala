package winops.policy

import winops.terms.{Purpose, RowExpression}
import winops.testing.TableTests
import winops.text.spl.Spl
import winops.window.piece.{Punctuation, Trigger}

/** Policies whose windows are emptied by window punctuations. */
class PunctuationSuite extends TableTests {
  import PunctuationSuite._

  private def policyOf(text: String): Policy =
    Spl.parse(text, Scope(columns = Seq("a"), isGrouped = true)) match {
      case Right(policy) => policy
      case Left(error) => fail(error.toString)
    }

  testEach("a policy takes punctuation if its window is emptied by it")(
    "tumbling, punct()" -> true,
    "tumbling, count(3)" -> false,
    "sliding, count(3)" -> false) { case (text, takes) =>
    assert(policyOf(text).takesPunctuation == takes)
  }

  test("a policy takes punctuation for any trigger that it fires") {
    val policy = policyOf("tumbling, punct()")
    val retention = policy.retention match {
      case Retention.One(window) =>
        Retention.One(window.copy(triggers = window.triggers.copy(leave = OtherPunctuation)))
      case other => fail(other.toString)
    }
    assert(policy.copy(retention = retention).takesPunctuation)
  }
}

private object PunctuationSuite {

  /** Another trigger that window punctuations fire. */
  case object OtherPunctuation extends Trigger {
    override def usesTime: Boolean = Punctuation.usesTime
    override def firesAtPunctuation: Boolean = true
    override def reads: Seq[(Purpose, RowExpression)] = Punctuation.reads
    override def reason: Int = Punctuation.reason
    override def words: String = Punctuation.words
  }
}
