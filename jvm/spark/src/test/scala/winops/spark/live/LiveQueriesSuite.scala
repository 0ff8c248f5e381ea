package winops.spark.live

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import winops.spark.internal.GroupSize

class LiveQueriesSuite extends AnyFunSuite {
  private def run(i: Int) = new UUID(0, i.toLong)

  private def described(queries: LiveQueries, runs: Int*): Unit =
    runs.foreach { i =>
      queries.started(run(i))
      queries.described(run(i), 0, "KEEP ALL", s"query $i", Nil, 0)
    }

  test("operators keep their order, and their largest groups") {
    val queries = new LiveQueries(retained = 1)
    queries.started(run(1))
    queries.described(run(1), 7, "KEEP ALL", "above", Seq(GroupSize("a", 3)), 0)
    queries.described(run(1), 2, "KEEP 1 ROW", "below", Nil, 0)
    queries.described(run(1), 7, "KEEP ALL", "above", Seq(GroupSize("a", 4)), 1)
    val Some(query) = queries.get(run(1)): @unchecked
    assert(query.windows.map(_.operatorId) == Seq(7, 2))
    assert(query.heading == "KEEP ALL; KEEP 1 ROW" && query.title == run(1).toString)
    assert(query.copy(name = Some("trades")).heading == "trades")
    assert(query.windows.head.seen == Seq(SeenGroup("a", 4, 1)))
    assert(query.status == QueryStatus.Running && query.batches == 0)
  }

  test("runs that have ended stay, up to a number of them") {
    val queries = new LiveQueries(retained = 2)
    described(queries, 1, 2, 3, 4, 5)
    queries.ended(run(2), isFailure = false)
    queries.ended(run(1), isFailure = true)
    assert(queries.all.map(_.run) == Seq(1, 2, 3, 4, 5).map(run))
    assert(
      queries.all.map(_.status.name) ==
        Seq("failed", "finished", "running", "running", "running"))
    queries.ended(run(4), isFailure = false)
    assert(queries.all.map(_.run) == Seq(2, 3, 4, 5).map(run))
  }

  test("a run leaves nothing behind if its end is not reported, or a task reports after it") {
    val queries = new LiveQueries(retained = 0)
    queries.described(run(1), 0, "KEEP ALL", "of a session without a listener", Nil, 0)
    assert(queries.all.isEmpty)
    described(queries, 2)
    assert(queries.all.map(_.run) == Seq(run(2)))
    queries.ended(run(2), isFailure = false)
    queries.described(run(2), 0, "KEEP ALL", "late", Nil, 1)
    assert(queries.all.isEmpty)
  }

  test("gauges of running queries with one name have names of their own") {
    val queries = new LiveQueries(retained = 2)
    described(queries, 1, 2, 3)
    def query(i: Int, name: String) = QueryHistory(run(i), name = Some(name))
    assert(queries.gaugeTitle(query(4, "a b")) == "a b")
    // Without a name, the title is the id of the run.
    val taken = run(1).toString
    assert(queries.gaugeTitle(query(4, taken)) == s"$taken-${run(4)}")
    assert(queries.gaugeTitle(query(4, taken.replace('-', '.'))).endsWith(s"-${run(4)}"))
    assert(queries.gaugeTitle(query(1, taken)) == taken)
    queries.ended(run(1), isFailure = false)
    assert(queries.gaugeTitle(query(4, taken)) == taken)
  }

  test("the end of a run without an operator of winops is ignored") {
    val queries = new LiveQueries(retained = 2)
    queries.ended(run(1), isFailure = false)
    assert(queries.all.isEmpty)
  }
}
