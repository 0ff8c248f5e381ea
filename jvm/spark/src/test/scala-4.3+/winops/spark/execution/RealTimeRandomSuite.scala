package winops.spark.execution

import scala.util.Random

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

import winops.spark.plan.RealTimeSettings
import winops.spark.testing.RealTimeTest
import winops.spark.testing.RealTimeTest.{failing, Event}

/** Random runs with stops in a batch, failures of the sink, and changes between micro-batches and
  * real-time mode: without repetitions, the output is that of a table, and so is the state, which
  * the last micro-batches go on with.
  *
  * The property `realtime` is the number of runs.
  */
class RealTimeRandomSuite extends RealTimeTest {
  private val runs = sys.props.get("realtime").fold(2)(_.toInt)

  (1 to runs).foreach { run =>
    test(s"random run $run") {
      val random = new Random(run)
      val window = windows(random.nextInt(windows.size))
      val arguments = s"PARTITION BY (k) ORDER BY (id), $window"
      val groups = 1 + random.nextInt(12)
      val all = (0 until 400).map(i => Event(random.nextInt(groups), i.toLong))
      spark.conf.set(RealTimeSettings.OpenGroups, (1 + random.nextInt(groups)).toString)
      val name = s"random $run"
      inTempDir { folder =>
        val input = new Input(folder)

        def newQuery(batch: Option[String]): StreamingQuery =
          start(keep(input.rows, arguments), folder, name, batch)

        all.grouped(80).zipWithIndex.foreach { case (rows, number) =>
          // Spark refuses micro-batches after a first batch of real-time mode that has not ended.
          val isRealTime = number > 0 && random.nextInt(3) > 0
          val query = newQuery(Option.when(isRealTime)("1 second"))
          try {
            rows.grouped(1 + random.nextInt(40)).foreach { some =>
              input.add(some)
              Thread.sleep(random.nextInt(400).toLong)
              if (number > 0 && random.nextInt(10) == 0) failing.add(name)
            }
            if (number == 0 || !isRealTime && random.nextBoolean()) query.processAllAvailable()
          } catch { case _: StreamingQueryException => }
          finally {
            query.stop()
            failing.remove(name)
          }
        }
        val last = newQuery(None)
        try last.processAllAvailable()
        finally last.stop()
        val expected = byGroup(changesOfTable(all, arguments), window)
        assert(byGroup(received(name), window) == expected, window)
      }
    }
  }
}
