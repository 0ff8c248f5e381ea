package winops.policy

import org.scalatest.funsuite.AnyFunSuite

import winops.terms.Origin
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.window.piece.Resizable

/** Windows of which a restart may choose another length. */
class LengthSuite extends AnyFunSuite {
  private def of(
      dialect: Dialect,
      text: String,
      origin: Option[Origin] = None): Option[Resizable] =
    dialect.parse(text, Scope(columns = Seq("a"), origin = origin, isGrouped = true)) match {
      case Right(policy) => policy.resizable
      case Left(error) => fail(error.toString)
    }

  test("windows of the same kind have the same name, whatever their length") {
    Seq(
      "rows" -> Seq(
        "KEEP ALL",
        "KEEP 2 ROWS",
        "KEEP 9 ROWS SLACK 3 PER (a)",
        "KEEP EVERY 5 ROWS"),
      "interval" -> Seq("KEEP 2 SECONDS", "KEEP 1 DAY"),
      "every interval from 0" -> Seq("KEEP EVERY 2 SECONDS", "KEEP EVERY 1 DAY")).foreach {
      case (name, texts) =>
        texts.foreach(text => assert(of(Ccl, text).map(_.name).contains(name), text))
    }
    Seq("#length(3)" -> "rows", "#keepall" -> "rows", "#time(3 sec)" -> "interval").foreach {
      case (text, name) => assert(of(Esper, text).map(_.name).contains(name), text)
    }
  }

  test("intervals that count from elsewhere are others") {
    val origins = Seq(None, Some(Origin.At(5L)), Some(Origin.FirstRow))
    assert(origins.map(of(Ccl, "KEEP EVERY 1 DAY", _)).distinct.size == 3)
  }

  test("a window has grown if it keeps rows for longer than one of the same kind") {
    def grown(dialect: Dialect, before: String, now: String): Option[String] = {
      def policy(text: String) =
        dialect.parse(text, Scope(columns = Seq("a"), isGrouped = true)).toOption.get
      policy(now).growth(policy(before))
    }
    assert(
      grown(Ccl, "KEEP 2 ROWS", "KEEP 3 ROWS PER (a)")
        .contains("a group with 2 rows fills from 3 upward"))
    assert(grown(Ccl, "KEEP 2 ROWS SLACK 5", "KEEP ALL").isDefined)
    assert(grown(Ccl, "KEEP 2 SECONDS", "KEEP 1 DAY").isDefined)
    assert(grown(Esper, "#time(3 sec)", "#time(4 sec)").isDefined)
    Seq(
      "KEEP 3 ROWS" -> "KEEP 3 ROWS",
      "KEEP 3 ROWS" -> "KEEP 2 ROWS",
      "KEEP ALL" -> "KEEP 2 ROWS",
      "KEEP 1 DAY" -> "KEEP 2 SECONDS",
      "KEEP 1 ROW" -> "KEEP 1 DAY").foreach { case (before, now) =>
      assert(grown(Ccl, before, now).isEmpty, s"$before, $now")
    }
  }

  test("windows that something else than a length decides over have no name") {
    Seq("#sort(3, a)", "#length(3)#unique(a)", "#length_batch(3)", "#firstlength(3)").foreach {
      text => assert(of(Esper, text).isEmpty, text)
    }
  }
}
