package winops.spark.over

import scala.util.Random

/** Draws window functions over [[Quote]]s. */
final class RandomOver(random: Random) {
  import RandomOver._

  /** Rows with ties in time, NULLs, and rows that come late. */
  def quotes(count: Int): Seq[Quote] = (1 to count).map { i =>
    Quote(
      pick(Seq("a", "b", "c")),
      (20L + i / 4 - random.nextInt(6)) * 500000L,
      i,
      orNone(random.nextInt(9)),
      // Sums of these numbers are exact in any order.
      orNone(if (random.nextInt(4) == 0) pick(Seq(0.0, -0.0)) else random.nextInt(64) * 0.25 - 4),
      orNone(pick(Seq("x", "X", "yy", "zzz"))))
  }

  /** Divides rows into two or more micro-batches, and these into one or two starts of a query.
    * The last micro-batch flushes and has a start of its own.
    */
  def runs(rows: Seq[Quote]): Seq[Seq[Seq[Quote]]] = {
    val cuts = Seq.fill(1 + random.nextInt(6))(1 + random.nextInt(rows.size - 1)).distinct.sorted
    val batches = (0 +: cuts :+ rows.size).distinct.sliding(2).collect { case Seq(from, until) =>
      random.shuffle(rows.slice(from, until))
    }
    val all = batches.toSeq
    val (first, second) = all.splitAt(random.nextInt(all.size))
    Seq(first, second).filter(_.nonEmpty)
  }

  /** Window functions of one PARTITION BY and ORDER BY.
    *
    * @param follows
    *   true if frames may reach behind the current row
    * @param beside
    *   functions in front of the random ones, with the default frame
    */
  def functions(count: Int, follows: Boolean, beside: Seq[String] = Nil): Seq[String] = {
    val partition = pick(Partitions)
    val order = pick(Orders)
    beside.map(f => s"$f OVER ($partition ORDER BY $order)") ++
      Seq.fill(count)(function(partition, order, follows))
  }

  /** Window functions of one PARTITION BY, and of two ORDER BY of which one begins with the
    * other, one after the other.
    */
  def ofTwoOrders(count: Int, follows: Boolean): Seq[String] = {
    val partition = pick(Partitions)
    val orders = random.shuffle(Seq("ts", pick(Orders.filter(_ != "ts"))))
    orders.flatMap(order => Seq.fill(count / 2)(function(partition, order, follows)))
  }

  private def function(partition: String, order: String, follows: Boolean): String = {
    val (f, frame) = if (order == "ts") ofTime(follows) else ofRows(follows)
    s"$f OVER ($partition ORDER BY $order $frame)"
  }

  private def ofTime(follows: Boolean): (String, String) =
    if (random.nextInt(6) == 0) (pick(Seq("rank()", "dense_rank()")), "")
    else {
      val upper = if (follows) pick(Seq(current, following)) else pick(Seq(current, preceding(0)))
      val lower = pick(Seq("UNBOUNDED PRECEDING", preceding(1500)))
      val frame = pick(Seq("", s"RANGE BETWEEN $lower AND $upper", s"RANGE $current"))
      (pick(Commutative), frame)
    }

  private def preceding(least: Int): String =
    s"INTERVAL ${least + random.nextInt(1500)} MILLISECONDS PRECEDING"

  private def following: String = s"INTERVAL ${random.nextInt(1500)} MILLISECONDS FOLLOWING"

  private def current: String = "CURRENT ROW"

  private def ofRows(follows: Boolean): (String, String) = random.nextInt(10) match {
    case 0 => (pick(Seq("row_number()", "rank()", "dense_rank()")), "")
    case 1 | 2 =>
      val name = if (follows && random.nextBoolean()) "lead" else "lag"
      val nulls = pick(Seq("", " IGNORE NULLS"))
      (s"$name(${pick(Seq("n", "x", "s"))}, ${random.nextInt(4)})$nulls", "")
    case 3 =>
      (s"nth_value(n, ${1 + random.nextInt(3)})${pick(Seq("", " IGNORE NULLS"))}", rows(follows))
    case _ => (pick(Commutative ++ Ordered), pick(Seq("", rows(follows), rows(follows))))
  }

  private def rows(follows: Boolean): String = {
    val last = (if (follows) 4 else 0) - random.nextInt(4)
    val first = last - random.nextInt(9)
    val lower = if (random.nextInt(3) == 0) "UNBOUNDED PRECEDING" else distance(first)
    s"ROWS BETWEEN $lower AND ${distance(last)}"
  }

  private def distance(rows: Int): String =
    if (rows == 0) "CURRENT ROW"
    else if (rows < 0) s"${-rows} PRECEDING"
    else s"$rows FOLLOWING"

  private def pick[A](some: Seq[A]): A = some(random.nextInt(some.size))

  private def orNone[A](value: A): Option[A] = if (random.nextInt(5) == 0) None else Some(value)
}

object RandomOver {
  private val Partitions =
    Seq("PARTITION BY k", "PARTITION BY k, n % 2", "PARTITION BY upper(s)", "")
  private val Orders =
    Seq("ts", "ts, seq", "ts, n DESC NULLS LAST, seq", "ts, s NULLS LAST, seq DESC")

  /** Functions whose result does not depend on the order of rows. */
  private val Commutative = Seq(
    "count(*)",
    "count(n)",
    "sum(n)",
    "sum(x)",
    "avg(n)",
    "avg(x)",
    "min(s)",
    "bit_xor(n)",
    "sum(x * n + seq)",
    "max(upper(s))",
    "approx_count_distinct(n)",
    "percentile(n, 0.25D)",
    "count_if(n > 3)",
    "try_sum(n)",
    "bool_or(n > 4)")

  private val Ordered = Seq(
    "first_value(n)",
    "last_value(s)",
    "first_value(x) IGNORE NULLS",
    "last_value(n) IGNORE NULLS",
    "any_value(s)",
    "collect_list(n)",
    "array_agg(s)",
    "max_by(n, seq)",
    "stddev(x)",
    "covar_pop(x, n)",
    "mode(n)",
    "max(struct(n, s))",
    // The first of equal values is the least or greatest, such as 0 and -0.
    "min(x)",
    "max(x)",
    "max(s COLLATE UTF8_LCASE)",
    "percentile_approx(x, 0.5D)")
}
