package winops.policy

import winops.terms.Origin
import winops.testing.TableTests
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.window.piece.Resizable

/** Windows of which a restart may choose another length. */
class LengthSuite extends TableTests {
  private def of(
      dialect: Dialect,
      text: String,
      origin: Option[Origin] = None): Option[Resizable] =
    dialect.parse(text, Scope(columns = Seq("a"), origin = origin, isGrouped = true)) match {
      case Right(policy) => policy.resizable
      case Left(error) => fail(error.toString)
    }

  testEach("windows of the same kind have the same name, whatever their length")(
    "KEEP ALL" -> "rows",
    "KEEP 2 ROWS" -> "rows",
    "KEEP 9 ROWS SLACK 3 PER (a)" -> "rows",
    "KEEP EVERY 5 ROWS" -> "rows",
    "KEEP 2 SECONDS" -> "interval",
    "KEEP 1 DAY" -> "interval",
    "KEEP EVERY 2 SECONDS" -> "every interval from 0",
    "KEEP EVERY 1 DAY" -> "every interval from 0") { case (text, name) =>
    assert(of(Ccl, text).map(_.name).contains(name))
  }

  testEach("windows of Esper of the same kind have the same name")(
    "#length(3)" -> "rows",
    "#keepall" -> "rows",
    "#time(3 sec)" -> "interval") { case (text, name) =>
    assert(of(Esper, text).map(_.name).contains(name))
  }

  test("intervals that count from elsewhere are others") {
    val origins = Seq(None, Some(Origin.At(5L)), Some(Origin.FirstRow))
    assert(origins.map(of(Ccl, "KEEP EVERY 1 DAY", _)).distinct.size == 3)
  }

  private def grown(dialect: Dialect, before: String, now: String): Option[String] = {
    def policy(text: String) =
      dialect.parse(text, Scope(columns = Seq("a"), isGrouped = true)).toOption.get
    policy(now).growth(policy(before))
  }

  test("a window has grown if it keeps rows for longer than one of the same kind") {
    assert(
      grown(Ccl, "KEEP 2 ROWS", "KEEP 3 ROWS PER (a)")
        .contains("a group with 2 rows fills from 3 upward"))
    assert(grown(Ccl, "KEEP 2 ROWS SLACK 5", "KEEP ALL").isDefined)
    assert(grown(Ccl, "KEEP 2 SECONDS", "KEEP 1 DAY").isDefined)
    assert(grown(Esper, "#time(3 sec)", "#time(4 sec)").isDefined)
  }

  testEach("a window has not grown otherwise")(
    "KEEP 3 ROWS" -> "KEEP 3 ROWS",
    "KEEP 4 ROWS" -> "KEEP 2 ROWS",
    "KEEP ALL" -> "KEEP 2 ROWS",
    "KEEP 1 DAY" -> "KEEP 2 SECONDS",
    "KEEP 1 ROW" -> "KEEP 1 DAY") { case (before, now) =>
    assert(grown(Ccl, before, now).isEmpty)
  }

  testEach("windows that something else than a length decides over have no name")(
    "#sort(3, a)",
    "#length(3)#unique(a)",
    "#length_batch(3)",
    "#firstlength(3)") { text =>
    assert(of(Esper, text).isEmpty)
  }
}
