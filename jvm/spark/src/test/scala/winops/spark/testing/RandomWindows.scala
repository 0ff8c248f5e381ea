package winops.spark.testing

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import winops.spark.execution.WindowsPropertySuite
import winops.spark.plan.Application
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** A window over [[Reading]]s. */
final case class RandomWindow(dialect: Dialect, policy: String, time: Option[Application]) {

  /** The SQL of the window after the table. */
  def call: String = {
    val text = s"'${policy.replace("'", "\\'")}'"
    val named = if (dialect == Ccl) text else s"${dialect.name} => $text"
    val timed = time.fold("")(application => s", time => 'ts', apply => '${application.name}'")
    s"PARTITION BY (k) ORDER BY (n), $named$timed"
  }

  /** The SQL for changes with one numbering for each `k`. Without it, a window of one row for
    * each key runs as a group for each key, unless groups may be removed as a whole.
    */
  def callForChanges: String =
    if (time.isDefined) s"$call, idle => '1000 days'" else call
}

/** Every named window of the dialects, with random sizes. */
final class RandomWindows(random: Random) {

  def ccl: Seq[RandomWindow] = Seq(
    untimed(Ccl, "KEEP ALL"),
    untimed(Ccl, s"KEEP $size ROWS"),
    untimed(Ccl, s"KEEP $size ROWS SLACK $size"),
    untimed(Ccl, s"KEEP EVERY $size ROWS"),
    timed(Ccl, s"KEEP $millis MILLISECONDS"),
    timed(Ccl, s"KEEP EVERY $millis MILLISECONDS"))

  def apama: Seq[RandomWindow] = Seq(
    timed(Apama, s"within $seconds"),
    timed(Apama, s"within $seconds every $seconds"),
    untimed(Apama, s"retain $size"),
    untimed(Apama, { val all = size; s"retain $all every ${1 + random.nextInt(all)}" }),
    timed(Apama, s"within $seconds retain $size"),
    timed(Apama, s"within $seconds every $seconds retain $size"),
    untimed(Apama, s"retain $size with unique text"),
    timed(Apama, s"within $seconds with unique text"),
    timed(Apama, s"within $seconds every $seconds retain $size with unique text"),
    untimed(Apama, "retain all"))

  def esper: Seq[RandomWindow] = Seq(
    untimed(Esper, s"#length($size)"),
    untimed(Esper, "#lastevent"),
    untimed(Esper, "#keepall"),
    timed(Esper, s"#time($millis msec)"),
    timed(Esper, s"#time_accum($millis msec)"),
    untimed(Esper, s"#ext_timed(ts, $millis msec)"),
    untimed(Esper, s"#expr(newest_event.n - oldest_event.n < ${100 * size})"),
    untimed(Esper, s"#expr(count(*) <= $size or newest_event.text = 'a')"),
    untimed(Esper, s"#firstlength($size)"),
    untimed(Esper, "#firstevent"),
    timed(Esper, s"#firsttime($millis msec)"),
    timed(Esper, "#firstunique(text)"),
    timed(Esper, "#unique(text)"),
    untimed(Esper, s"#sort($size, text desc, n)"),
    untimed(Esper, s"#sort($size, i)"),
    untimed(Esper, s"#rank(text, $size, n desc)"),
    untimed(Esper, s"#rank(i, $size, text)"),
    timed(Esper, s"#time_order(ts, $millis msec)"),
    timed(Esper, "#timetolive(ts)"),
    untimed(Esper, s"#length_batch($size)"),
    timed(Esper, s"#time_batch($millis msec)"),
    untimed(Esper, s"#ext_timed_batch(ts, $millis msec)"),
    timed(Esper, s"#time_length_batch($millis msec, $size)"),
    untimed(Esper, "#expr_batch(newest_event.text = 'b')"))

  /** Windows with their own reports, also without a change. */
  def reporting: Seq[RandomWindow] =
    timed(Esper, s"#time_batch($millis msec, 0L, 'FORCE_UPDATE')") +: Seq(
      s"tumbling, count($size)",
      s"tumbling, time($seconds)",
      s"tumbling, delta(n, ${100 * size})",
      s"sliding, count($size)",
      s"sliding, time($seconds)",
      s"sliding, delta(n, ${100 * size})",
      s"sliding, count($size), count($size)",
      s"sliding, count($size), time($seconds)",
      s"sliding, time($seconds), count($size)",
      s"sliding, time($seconds), time($seconds)",
      s"sliding, count($size), delta(n, ${100 * size})").map(timed(Spl, _))

  /** Combinations of Esper's windows. */
  def combined(count: Int): Seq[RandomWindow] = Seq.fill(count) {
    val (dialect, policy) = WindowsPropertySuite.combined
      .pureApply(Gen.Parameters.default, Seed(random.nextLong()))
    timed(dialect, policy)
  }

  /** Windows of more rows than a group's own entry can hold. */
  def large: Seq[RandomWindow] = {
    def rows = 300 + random.nextInt(2700)
    Seq(
      Ccl -> s"KEEP $rows ROWS",
      Ccl -> s"KEEP $rows ROWS SLACK $rows",
      Apama -> s"retain $rows every ${1 + random.nextInt(300)}",
      Esper -> s"#sort($rows, i, x desc)",
      Esper -> s"#length($rows)#unique(n % 2000)").map { case (dialect, policy) =>
      RandomWindow(dialect, policy, None)
    }
  }

  private def size: Int = 1 + random.nextInt(6)
  private def millis: Int = 50 + random.nextInt(900)
  private def seconds: String = s"${(1 + random.nextInt(12)) / 10.0}"

  private def timed(dialect: Dialect, policy: String): RandomWindow =
    RandomWindow(dialect, policy, Some(Application.all(random.nextInt(2))))

  private def untimed(dialect: Dialect, policy: String): RandomWindow =
    if (random.nextBoolean()) timed(dialect, policy) else RandomWindow(dialect, policy, None)
}
