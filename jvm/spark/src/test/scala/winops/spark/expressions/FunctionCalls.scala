package winops.spark.expressions

import org.apache.spark.sql.catalyst.analysis.FunctionRegistry

/** Calls of Spark's functions in Esper's syntax, over the columns of
  * [[winops.testing.fuzz.Trial]].
  */
private object FunctionCalls {

  private val plain =
    Seq("", "price", "symbol", "ts", "price, 2", "symbol, venue", "'a', 'a', 'aa'", "ts, symbol")

  /** Arguments with numbers that might define the size of a value or a buffer. */
  private val numbered = Seq(
    "symbol, 1000000000",
    "price, 1000000000",
    "price, 0.0001",
    "symbol, 1000000000, venue",
    "array(volume), 1000000000, volume",
    "price, 0.000000001, 0.99, 1")

  /** Calls of the function with large and small numbers. */
  def withNumbers(name: String): Seq[String] = numbered.map(list => s"$name($list)")

  /** Policies with every function of Spark, in a condition and as a value of a window. */
  def policies: Seq[String] = for {
    name <- FunctionRegistry.expressions.keys.toSeq.sorted
    if name.forall(char => Character.isLetterOrDigit(char) || char == '_')
    call <- plain.map(list => s"$name($list)") ++ withNumbers(name)
    policy <- Seq(s"#expr($call is null)", s"select $call as x from S#length(3)")
  } yield policy
}
