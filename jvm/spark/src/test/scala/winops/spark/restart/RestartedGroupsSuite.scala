package winops.spark.restart

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.plan.KeepPlan
import winops.spark.group.BatchTimes
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}
import winops.testing.TableTests
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** Groups that a restart rebuilds, without a session. */
class RestartedGroupsSuite extends TableTests {
  import RestartedGroupsSuite._

  private def planOf(dialect: Dialect, text: String): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(text, dialect = dialect), Seq(KeepPlans.n))

  private def planOf(texts: Seq[String]): KeepPlan = {
    val spec = KeepPlans.spec("KEEP ALL")
    KeepPlans.plan(spec.copy(policy = KeepPlans.policyOf(Ccl, texts)), Seq(KeepPlans.n))
  }

  private def without(column: Attribute, plan: KeepPlan): KeepPlan =
    plan.copy(content = plan.content.filter(_.exprId != column.exprId))

  private def rows(from: Int, until: Int): Seq[Arrived] =
    (from until until).map(n => Arrived(1, Some(n * 1000000L), n.toLong))

  /** The type, the step, the number and the row of each change. */
  private def changesOf(task: DrivenTask, at: Long, rows: Seq[Arrived]): Seq[Change] = {
    val from = task.plan.changeColumns.size
    task.run(rows, BatchTimes.ofBatch(at)) { row =>
      (row.getUTF8String(0).toString, row.getLong(2), row.getLong(3), row.getLong(from + 2))
    }
  }

  private val windows: Seq[(String, KeepPlan)] = Seq(
    Ccl -> "KEEP 3 ROWS",
    Ccl -> "KEEP EVERY 3 ROWS",
    Ccl -> "KEEP 2 ROWS SLACK 3",
    Ccl -> "KEEP 3 SECONDS",
    Apama -> "retain 4 every 3",
    Apama -> "retain 2 with unique k",
    Esper -> "#length_batch(4)",
    Esper -> "#time_batch(3 sec)",
    Esper -> "#length(3)",
    Esper -> "select rstream * from S#length(3)",
    Esper -> "select istream * from S#length(3)",
    Esper -> "select rstream * from S#length_batch(3)",
    Esper -> "#sort(2, n desc)",
    Esper -> "#firstlength(2)",
    Esper -> "#unique(n % 3)",
    Spl -> "tumbling, count(3)",
    Spl -> "sliding, count(3), count(2)").map { case (dialect, text) =>
    text -> planOf(dialect, text)
  } :+ ("several windows" -> planOf(Seq("KEEP 2 ROWS", "KEEP 4 ROWS", "KEEP EVERY 3 ROWS")))

  windows.foreach { case (name, plan) =>
    test(s"a group that is rebuilt goes on with its numbers: $name") {
      (1 to 9).foreach { early =>
        val before = new DrivenTask(without(KeepPlans.text, plan))
        val other = new DrivenTask(plan)
        (0 until early).foreach { n =>
          val at = n * 1000L
          assert(changesOf(before, at, rows(n, n + 1)) == changesOf(other, at, rows(n, n + 1)))
        }
        val now = before.restarted(plan)
        (early until early + 6).foreach { n =>
          val at = n * 1000L
          assert(changesOf(now, at, rows(n, n + 1)) == changesOf(other, at, rows(n, n + 1)))
        }
      }
    }
  }
}

private object RestartedGroupsSuite {
  type Change = (String, Long, Long, Long)
}
