package winops.spark;

import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.max;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import winops.GroupedKept;
import winops.Kept;
import winops.KeepOptions;
import winops.WindowPolicy;
import winops.Winops;

/** Calls of the API as Java programs write them; the compiler checks that Java can. */
public final class JavaCalls {
  private JavaCalls() {}

  /** Returns calls of keep by what {@code describe()} says of them. */
  public static Map<String, Kept> calls(Dataset<Row> rows) {
    KeepOptions ordered = Winops.options().orderBy("n");
    Map<String, Kept> calls = new LinkedHashMap<>();
    calls.put("Keeps the newest 2 rows.", Winops.keep(rows, "KEEP 2 ROWS", ordered));
    calls.put("Keeps every row.", Winops.keep(rows, "KEEP ALL"));
    calls.put(
        "For each `k`, keeps the newest 3 rows.",
        Winops.keep(rows, ordered.rows(3).per("k").maxRows(10).keyColumns("n")));
    calls.put(
        "For each (upper(k)), keeps each row for 5 minutes. Applies rows in the order of arrival;"
            + " the time of a group is its greatest `ts` so far.",
        Winops.keep(
            rows,
            Winops.options()
                .interval(Duration.ofMinutes(5))
                .time("ts")
                .apply("arrival")
                .onNullTime("drop")
                .per(functionOf("k"))
                .orderBy(col("n").desc(), col("k"))));
    calls.put(
        "Keeps the newest 4 rows.",
        Winops.keep(rows, Winops.esper("#length(n)"), ordered.params(Map.of("n", 4))));
    calls.put("Keeps the newest 5 rows.", Winops.keep(rows, Winops.apama("retain 5"), ordered));
    calls.put(
        "Keeps the newest 6 rows; reports the window contents when a row arrives.",
        Winops.keep(rows, Winops.spl("sliding, count(6)"), ordered));
    return calls;
  }

  /** Returns the outputs of a window with aggregates. */
  public static Map<String, Dataset<Row>> outputs(Dataset<Row> rows) {
    Kept kept = Winops.keep(rows, "KEEP 2 ROWS", Winops.options().orderBy("n"));
    GroupedKept parts = kept.groupBy("k");
    Map<String, Column> columns = Map.of("mean", avg("n"));
    WindowPolicy windows = Winops.windows(Map.of("last", "KEEP 1 ROW"));
    WindowPolicy ofEsper = Winops.windows("esper", Map.of("last", "#length(1)"));
    Map<String, Dataset<Row>> outputs = new LinkedHashMap<>();
    outputs.put("changes", kept.changes(true));
    outputs.put("inserts", kept.inserts());
    outputs.put("deletes", kept.deletes());
    outputs.put("rows", kept.rows());
    outputs.put("agg", kept.agg(avg("n"), max("n")));
    outputs.put("agg of a mode", kept.agg("latest", avg("n")));
    outputs.put("groupBy", parts.agg("latest", count("*"), max("n")));
    outputs.put("groupBy of columns", kept.groupBy(col("k")).agg(count("*")));
    outputs.put("withColumns", kept.withColumns(columns));
    outputs.put("withColumn", kept.withColumn("mean", avg("n")));
    outputs.put("snapshots", kept.snapshots(10));
    Dataset<Row> asking = rows.select("k", "ts");
    outputs.put(
        "lookup",
        Winops.keep(rows, "KEEP 2 ROWS", Winops.options().orderBy("n").per("k").time("ts"))
            .lookup(asking, columns, Map.of("k", "k"), "ts"));
    outputs.put("asofJoin", Winops.asofJoin(asking, rows, "ts", List.of("k")));
    KeepOptions order = Winops.options().orderBy("n");
    Map<String, String> ofWindows = Map.of("mean", "last");
    outputs.put("windows", Winops.keep(rows, windows, order).withColumns(columns, ofWindows));
    outputs.put(
        "windows of Esper", Winops.keep(rows, ofEsper, order).withColumns(columns, ofWindows));
    return outputs;
  }

  /** Returns the number of rows in a checkpoint and in one with other partitions. */
  public static long[] state(SparkSession spark, String checkpoint, String to) {
    Winops.repartition(spark, checkpoint, 3, to);
    return new long[] {
      Winops.readState(spark, checkpoint).count(),
      Winops.readState(spark, checkpoint, 0).count(),
      Winops.readState(spark, to, 1, 0).count()
    };
  }

  /** Returns the numbers of groups that two calls have removed. */
  public static long[] forgotten(SparkSession spark, String checkpoint, String to) {
    return new long[] {
      Winops.forget(spark, checkpoint, "k = 'a'", to + "/all"),
      Winops.forget(spark, checkpoint, "k > 'b'", to + "/one", 0)
    };
  }

  private static Column functionOf(String name) {
    return org.apache.spark.sql.functions.upper(col(name));
  }
}
