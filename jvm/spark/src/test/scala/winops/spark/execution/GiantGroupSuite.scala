package winops.spark.execution

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions._

import winops.spark.testing.{CompiledCode, KeepStreamTest}
import winops.testing.Longer

/** One group of very many rows: 200,000, or the number in `-Dgiant=`. */
class GiantGroupSuite extends KeepStreamTest with CompiledCode {
  import GiantGroupSuite._
  import testImplicits._

  private val call =
    s"WITH SINGLE PARTITION ORDER BY (value), 'KEEP $Rows ROWS', max_rows => $Rows"

  private def statistics(changes: DataFrame): Map[String, Row] = changes
    .groupBy($"_change_type")
    .agg(count("*"), min($"value"), max($"value"), sum($"value"))
    .collect()
    .map(row => row.getString(0) -> row)
    .toMap

  /** The statistics of changes of a kind for the values from `from` until `until`. */
  private def of(kind: String, from: Long, until: Long): Row =
    Row(kind, until - from, from, until - 1, (from until until).sum)

  private val expected =
    Map("insert" -> of("insert", 0, Rows + Rows / 4), "delete" -> of("delete", 0, Rows / 4))

  test(s"giant group: $Rows rows of a table") {
    val table = spark.range(0, Rows + Rows / 4, 1, 2).select($"id".as("value"))
    assert(statistics(keep(table, call)) == expected)
  }

  test(s"giant group: $Rows rows of a stream, which is restarted", Longer) {
    withSQLConf(KeepStreamTest.rocksDb) {
      withTempDir { dir =>
        val source = spark.readStream
          .format("rate-micro-batch")
          .option("rowsPerBatch", Rows / 4)
          .load()
          .select($"value")
        val changes = new java.util.concurrent.ConcurrentHashMap[(Long, String), Row]
        val write = (batch: DataFrame, id: Long) =>
          statistics(batch).foreach { case (kind, row) => changes.put(id -> kind, row) }
        def batches: Int = changes.keySet.stream.filter(_._2 == "insert").count().toInt
        Seq(3, 5).foreach { until =>
          val query = keep(source, call).writeStream
            .option("checkpointLocation", dir.getCanonicalPath)
            .foreachBatch(write)
            .start()
          try
            eventually(timeout(streamingTimeout.scaledBy(5)))(assert(batches >= until))
          finally query.stop()
        }
        val quarter = Rows / 4
        (0L until 5L).foreach { id =>
          assert(changes.get(id -> "insert") == of("insert", id * quarter, (id + 1) * quarter))
        }
        assert((0L until 4L).forall(id => changes.get(id -> "delete") == null))
        assert(changes.get(4L -> "delete") == of("delete", 0, quarter))
      }
    }
  }
}

private object GiantGroupSuite {
  val Rows: Long = sys.props.get("giant").fold(200000L)(_.toLong)
}
