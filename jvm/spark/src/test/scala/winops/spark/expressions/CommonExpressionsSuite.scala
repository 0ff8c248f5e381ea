package winops.spark.expressions

import org.apache.spark.sql.DataFrame

import winops.spark.plan.GroupedOperator
import winops.spark.testing.{CompiledCode, KeepStreamTest}

/** For a common expression, Spark's optimizer adds a column to the input, with a number of the
  * JVM in its name. A checkpoint that has the column can be continued by that JVM alone.
  */
class CommonExpressionsSuite extends KeepStreamTest with CompiledCode {
  private val blank = "NULLIF(trim(k), '')"

  private def over(function: String, group: String = "k", order: String = "ts, n"): DataFrame =
    timed(ticks()).selectExpr(s"$function OVER (PARTITION BY $group ORDER BY $order)")

  Seq[(String, () => DataFrame)](
    "a key of keep" -> (() => keep(ticks().toDF(), s"PARTITION BY ($blank), 'KEEP 2 ROWS'")),
    "an order of keep" -> (() =>
      keep(timed(ticks()), s"PARTITION BY (k) ORDER BY ($blank), 'KEEP 2 ROWS', time => 'ts'")),
    "an expression of a policy" -> (() =>
      keep(ticks().toDF(), ", esper => '#unique(nullif(trim(k), ''''))'")),
    "an argument of lag" -> (() => over(s"lag($blank)")),
    "a default of lead" -> (() => over("lead(n, 1, NULLIF(n + 1, 0))")),
    "an argument of nth_value" -> (() => over(s"nth_value($blank, 2)")),
    "an argument of an aggregate" -> (() => over(s"max($blank)")),
    "a key of OVER" -> (() => over("lag(n)", group = blank)),
    "an order of OVER" -> (() => over("lag(n)", order = "ts, n + 1 BETWEEN 0 AND 2")),
    "an expression that is inlined into an operator below" -> (() =>
      timed(ticks())
        .selectExpr("*", "lag(n) OVER (PARTITION BY k ORDER BY ts, n) AS before")
        .selectExpr("*", s"$blank AS blank")
        .selectExpr("lag(blank) OVER (PARTITION BY k ORDER BY ts, n)"))).foreach {
    case (name, query) =>
      test(s"no column of a common expression is stored: $name") {
        val stored =
          spark.sessionState.optimizer.execute(query().queryExecution.analyzed).collect {
            case operator: GroupedOperator => operator.content
          }
        assert(stored.nonEmpty)
        assert(stored.flatten.filter(_.name.startsWith("_common_expr")).isEmpty)
      }
  }
}
