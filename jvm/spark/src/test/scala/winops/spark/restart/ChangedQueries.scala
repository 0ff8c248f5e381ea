package winops.spark.restart

import scala.util.Random

import org.apache.spark.sql.internal.SQLConf

import winops.spark.plan.Application
import winops.spark.testing.{KeepStreamTest, RandomWindow, RandomWindows}
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** A kind of change between two queries, which is a rule in the tables of `docs/restarts.md`.
  *
  * @param rule
  *   the first cell of the rule, without the numbers of notes
  * @param outcome
  *   the outcome that the plan of the restart names
  * @param draw
  *   draws two queries
  * @param check
  *   what the second query has to emit
  * @param isOfNote
  *   true if a note on the page gives another outcome than the rule's cell
  */
final case class Change(
    rule: String,
    outcome: Outcome,
    draw: Random => (KeepQuery, KeepQuery),
    check: Change.Check = Change.AsNew,
    isOfNote: Boolean = false)

object Change {
  sealed trait Check

  /** The output of a new query for the same rows. */
  case object AsNew extends Check

  /** Changes that a consumer can apply to the rows that it has. */
  case object Consistent extends Check

  /** `count(*)` and `min(n)` of the last rows. */
  case object LastRows extends Check

  /** No more than the two outcomes of a plan. */
  case object PlanOnly extends Check
}

/** Draws pairs of queries for each rule of `docs/restarts.md` about `keep`. */
object ChangedQueries {
  import Change._
  import Outcome._

  private val Columns =
    Seq("k", "n", "text", "i", "x", "y", "CAST(i AS SMALLINT) AS w", "amount", "ts")

  /** Aggregates over columns that no change removes. */
  private val Functions: Seq[String] = Seq(
    "sum(x)",
    "avg(x)",
    "min(x)",
    "max(n)",
    "count(DISTINCT i)",
    "first(text)",
    "last(x)",
    "collect_list(i)",
    "approx_count_distinct(text)",
    "count(*)",
    "sum(amount)",
    "avg(w)",
    "sum(w)",
    "max(w)",
    "sum(x) FILTER (WHERE text = 'a')",
    "count(DISTINCT text, i)")

  private def pick[A](random: Random, some: Seq[A]): A = some(random.nextInt(some.size))

  private def randomWindow(random: Random): RandomWindow = {
    val windows = new RandomWindows(random)
    pick(
      random,
      windows.ccl ++ windows.apama ++ windows.esper ++ windows.reporting ++ windows.combined(4) ++
        windows.large)
  }

  private def queryOf(random: Random, window: RandomWindow, output: String): KeepQuery = {
    val functions =
      if (output == "changes" || output == "snapshots") Nil
      else random.shuffle(Functions).take(1 + random.nextInt(4))
    KeepQuery(window, Columns, output, functions)
  }

  private def randomQuery(random: Random): KeepQuery =
    queryOf(random, randomWindow(random), pick(random, Seq("changes", "agg", "withColumns")))

  private def timedQuery(random: Random): KeepQuery =
    Iterator.continually(randomQuery(random)).find(_.window.time.isDefined).get

  /** A change of a random query that has something to change in this way. */
  private def change(rule: String, outcome: Outcome)(
      make: (Random, KeepQuery) => Option[KeepQuery]): Change =
    Change(
      rule,
      outcome,
      random =>
        Iterator
          .continually(randomQuery(random))
          .flatMap(query => make(random, query).map(query -> _))
          .next())

  private def changed(rule: String, outcome: Outcome)(make: KeepQuery => KeepQuery): Change =
    change(rule, outcome)((_, query) => Some(make(query)))

  private def columns(rule: String, outcome: Outcome = Rebuilt)(
      make: (Random, Seq[String]) => Seq[String]): Change =
    change(rule, outcome) { (random, query) =>
      val made = make(random, query.columns)
      Option.when(made != query.columns)(query.copy(columns = made))
    }

  /** Replaces the SQL of a column. */
  private def column(rule: String, outcome: Outcome)(name: String, sql: String): Change =
    columns(rule, outcome) { (_, all) =>
      all.map(column => if (column.split(" ").last == name) sql else column)
    }

  private def aggregates(make: (Random, Seq[String]) => Option[Seq[String]]): Change =
    change("aggregates are added, removed or moved", Rebuilt) { (random, query) =>
      if (query.hasAggregates) make(random, query.functions).map(f => query.copy(functions = f))
      else None
    }

  private def other(random: Random, functions: Seq[String]): String =
    pick(random, Functions.diff(functions))

  // Changes of the window.

  private type Policies = Random => ((Dialect, String), (Dialect, String))

  /** A change between two windows over changes, both with the same time or both without one. */
  private def windows(
      rule: String,
      outcome: Outcome,
      check: Check = Consistent,
      isTimed: Boolean = false,
      isOfNote: Boolean = false)(draw: Policies): Change =
    Change(
      rule,
      outcome,
      random => {
        val time =
          if (isTimed || random.nextBoolean()) Some(pick(random, Application.all)) else None
        val (before, now) = draw(random)
        val query = KeepQuery(windowOf(before, time), Columns, "changes", Nil)
        (query, query.copy(window = windowOf(now, time)))
      },
      check,
      isOfNote)

  /** Returns true if the window has a trigger for its snapshots. */
  private def reports(query: KeepQuery): Boolean =
    query.window.dialect == Spl && query.window.policy.startsWith("sliding")

  /** Two queries over operations, which differ in their arguments. */
  private def twoKeyed(
      random: Random,
      arguments: Seq[Map[String, String]]): (KeepQuery, KeepQuery) = {
    val columns = Columns ++ Seq(
      "n % 5 AS id",
      "CASE WHEN n % 7 = 0 THEN 'delete' ELSE 'upsert' END AS operation",
      "'upsert' AS entering")
    val window = windowOf(Ccl -> "KEEP 3 ROWS", None)
    val query = KeepQuery(window, columns, "changes", Nil, idle = None)
    val drawn = random.shuffle(arguments).map(more => query.copy(arguments = more))
    (drawn(0), drawn(1))
  }

  private def windowOf(policy: (Dialect, String), time: Option[Application]): RandomWindow =
    RandomWindow(policy._1, policy._2, time)

  private def ccl(before: String, now: String) = (Ccl -> before, Ccl -> now)
  private def esper(before: String, now: String) = (Esper -> before, Esper -> now)

  /** Two lengths, of which the second is greater. */
  private def lengths(random: Random, most: Int): (Int, Int) = {
    val less = 1 + random.nextInt(most)
    (less, less + 1 + random.nextInt(most))
  }

  private def anyLengths(random: Random, most: Int): (Int, Int) = {
    val (less, more) = lengths(random, most)
    if (random.nextBoolean()) (less, more) else (more, less)
  }

  private val OtherLengths: Seq[(Dialect, Int => String)] = Seq(
    Apama -> (n => s"within ${n / 10.0}"),
    Apama -> (n => s"retain $n with unique i"),
    Apama -> (n => s"within 2.0 every 0.1 retain $n"),
    Esper -> (n => s"#firstlength($n)"),
    Esper -> (n => s"#sort($n, text desc, n)"),
    Esper -> (n => s"#rank(i, $n, n)"),
    Esper -> (n => s"#length_batch($n)"),
    Esper -> (n => s"#firsttime(${100 * n} msec)"),
    Esper -> (n => s"#time_accum(${10 * n} msec)"),
    Esper -> (n => s"#length($n)#unique(text)"),
    Spl -> (n => s"tumbling, count($n)"),
    Spl -> (n => s"sliding, delta(n, $n)"))

  private def otherLength(random: Random): ((Dialect, String), (Dialect, String)) = {
    val (dialect, text) = pick(random, OtherLengths)
    val (before, now) = anyLengths(random, 5)
    (dialect -> text(before), dialect -> text(now))
  }

  /** Windows of which no two have the same kind. */
  private def kinds(random: Random): Seq[(Dialect, String)] = {
    def size = 1 + random.nextInt(6)
    Seq(
      Ccl -> s"KEEP $size ROWS",
      Ccl -> s"KEEP ${100 * size} MILLISECONDS",
      Ccl -> s"KEEP EVERY ${100 * size} MILLISECONDS",
      Apama -> s"within 0.$size retain $size",
      Apama -> "retain 9 with unique text",
      Esper -> s"#sort($size, i)",
      Esper -> s"#firstlength($size)",
      Esper -> "#unique(text)",
      Esper -> s"#length_batch($size)",
      Esper -> s"#time(${200 * size} msec)#unique(text)",
      Spl -> s"sliding, count($size)")
  }

  private def otherKind(random: Random): ((Dialect, String), (Dialect, String)) = {
    val two = random.shuffle(kinds(random)).take(2)
    (two.head, two.last)
  }

  private def carrying(change: Change, outcome: Outcome): Change = change.copy(
    outcome = outcome,
    draw = random => {
      val (before, now) = change.draw(random)
      (before, now.copy(arguments = now.arguments + ("on_change" -> "'carry'")))
    })

  /** The change, with history and with rows that are carried over. */
  private def suppliedOrCarried(change: Change): Seq[Change] =
    Seq(change, carrying(change, Carried))

  private val Length = "another length of any other window"
  private val Kind = "another kind of window or another language; several windows"

  /** One window and several ones, in any order.
    *
    * @param isNamed
    *   true if the one window has a name
    */
  private def several(isNamed: Boolean): Change =
    Change(
      Kind,
      NeedsHistory,
      random => {
        val time = Some(Application.Arrival)
        val window = RandomWindow(Ccl, "KEEP 3 ROWS", time)
        val named = if (isNamed) Map("first" -> "KEEP 2 ROWS") else Map.empty[String, String]
        val one = KeepQuery(window, Columns, "changes", Nil, others = named)
        val more = one.copy(others = named + ("more" -> s"KEEP ${1 + random.nextInt(9)} ROWS"))
        if (random.nextBoolean()) (one, more) else (more, one)
      },
      PlanOnly)

  private val ofWindow: Seq[Change] = Seq(
    changed("another spelling of the same policy", Continues) { query =>
      val policy = query.window.policy
      val spelled =
        if (query.window.dialect == Ccl) s"${policy.toLowerCase.replace("rows", "row")}  ;"
        else s"  ${policy.replace(", ", " ,  ")} "
      query.copy(window = query.window.copy(policy = spelled))
    },
    windows("fewer rows: from `KEEP ALL` or `KEEP n ROWS` to a smaller number", Continues) {
      random =>
        val (less, more) = lengths(random, 9)
        ccl(pick(random, Seq("KEEP ALL", s"KEEP $more ROWS")), s"KEEP $less ROWS")
    },
    windows("more rows; `KEEP ALL`; another `SLACK` or none; `KEEP EVERY n ROWS`", Continues) {
      random =>
        val (less, more) = lengths(random, 9)
        val now = Seq(
          s"KEEP $more ROWS",
          "KEEP ALL",
          s"KEEP $more ROWS SLACK $less",
          s"KEEP EVERY $more ROWS",
          s"KEEP $less ROWS")
        ccl(s"KEEP $less ROWS SLACK ${more - less}", pick(random, now))
    },
    windows("a shorter interval", Continues, isTimed = true) { random =>
      val (less, more) = lengths(random, 900)
      ccl(s"KEEP $more MILLISECONDS", s"KEEP $less MILLISECONDS")
    },
    windows("a longer interval", Continues, isTimed = true) { random =>
      val (less, more) = lengths(random, 900)
      ccl(s"KEEP $less MILLISECONDS", s"KEEP $more MILLISECONDS")
    },
    windows("`KEEP EVERY` with another interval", Continues, isTimed = true) { random =>
      val (before, now) = anyLengths(random, 900)
      ccl(s"KEEP EVERY $before MILLISECONDS", s"KEEP EVERY $now MILLISECONDS")
    },
    windows(
      "another length of Esper's `#length`, `#time` and `#keepall`",
      Continues,
      isTimed = true) { random =>
      val (before, now) = anyLengths(random, 9)
      pick(
        random,
        Seq(
          esper(s"#length($before)", s"#length($now)"),
          esper("#keepall", s"#length($now)"),
          esper(s"#time(${before * 50} msec)", s"#time(${now * 50} msec)")))
    }) ++
    suppliedOrCarried(windows(Length, NeedsHistory, isTimed = true)(otherLength)) ++
    suppliedOrCarried(windows(Kind, NeedsHistory, isTimed = true)(otherKind)) ++
    suppliedOrCarried(several(isNamed = true)) ++
    Seq(
      several(isNamed = false),
      carrying(several(isNamed = false).copy(isOfNote = true), NeedsHistory)) ++
    suppliedOrCarried(
      Change(
        "`origin`",
        NeedsHistory,
        random => {
          val window =
            RandomWindow(Ccl, "KEEP EVERY 300 MILLISECONDS", Some(pick(random, Application.all)))
          val query = KeepQuery(window, Columns, "changes", Nil)
          val both = Seq(query, query.copy(arguments = Map("origin" -> "'first'")))
          val drawn = random.shuffle(both)
          (drawn.head, drawn.last)
        },
        Consistent)) ++
    Seq(
      // The groups of a cross-group window share state.
      carrying(
        windows(Kind, NeedsHistory, PlanOnly, isTimed = true, isOfNote = true) { random =>
          def policy(rows: Int) = s"sliding, count($rows), partitioned, partitionCount(2)"
          val (before, now) = anyLengths(random, 4)
          (Spl -> policy(before), Spl -> policy(now))
        },
        NeedsHistory),
      Change(
        "`punct`",
        NeedsHistory,
        random => {
          val window = RandomWindow(Ccl, "KEEP 3 ROWS", Some(pick(random, Application.all)))
          val mark = "CASE WHEN n % 7 = 0 THEN 'window' END AS mark"
          val query = KeepQuery(window, Columns :+ mark, "changes", Nil, partitionBy = "")
          (query, query.copy(arguments = Map("punct" -> "'mark'")))
        },
        // The row that advances the time is in the window.
        PlanOnly),
      // With a group, such a window is cross-group.
      changed("`punct`", Refused)(_.copy(arguments = Map("punct" -> "'text'")))
        .copy(isOfNote = true),
      change("`idle` is added, removed or changed", Continues) { (random, query) =>
        val others = Seq(None, Some("1000 days"), Some("900 days"))
        Option.when(query.window.time.isDefined && query.window.dialect == Ccl) {
          query.copy(idle = pick(random, others.filter(_ != query.idle)))
        }
      },
      Change(
        "`idle` is added to or removed from a text with `unique`",
        Refused,
        random => {
          val windows = Seq(Esper -> "#time(300 msec)#unique(text)", Esper -> "#unique(text)")
          val window = windowOf(pick(random, windows), Some(Application.EventTime))
          val query = KeepQuery(window, Columns, "changes", Nil)
          val drawn = random.shuffle(Seq(query, query.copy(idle = None)))
          (drawn.head, drawn.last)
        }),
      Change(
        "`key`, `op`, `buffer`",
        NeedsHistory,
        random => {
          val key = Map("key" -> "ARRAY('id')")
          val withOperation = key + ("op" -> "'operation'")
          val all = Seq(Map.empty[String, String], key, withOperation, key + ("buffer" -> "2"))
          twoKeyed(random, all)
        }),
      Change(
        "`updates`, `late`, `corrections`; `row_id`",
        Continues,
        random => {
          // No row is refused, so that the number of changes is the same.
          val key = Map("key" -> "ARRAY('id')", "op" -> "'entering'")
          val more = Seq(
            "updates" -> "'update'",
            "late" -> "'emit'",
            "corrections" -> "true",
            "row_id" -> "false")
          twoKeyed(random, key +: more.map(key + _))
        }),
      changed("`max_rows`", Continues)(_.copy(arguments = Map("max_rows" -> "100000"))),
      change("`at_end`", Continues) { (_, query) =>
        Option.when(query.window.time.contains(Application.EventTime)) {
          query.copy(arguments = Map("at_end" -> "'flush'"))
        }
      },
      change("`on_null_time`", Continues) { (_, query) =>
        Option.when(query.window.time.isDefined) {
          query.copy(arguments = Map("on_null_time" -> "'drop'"))
        }
      })

  private val Zone = SQLConf.SESSION_LOCAL_TIMEZONE.key

  private def zoned(query: KeepQuery): KeepQuery =
    query.copy(settings = Map(Zone -> "Asia/Tokyo"))

  private val ofOrder: Seq[Change] = Seq(
    changed("`order_by`", NeedsHistory)(_.copy(orderBy = "n DESC")),
    // Aggregates have no column but the group.
    change("the group, with keys of the same types", NeedsHistory) { (_, query) =>
      Option.when(query.output != "agg")(query.copy(partitionBy = "k % 2"))
    },
    changed("the group, with other types or another number of keys", Refused)(
      _.copy(partitionBy = "k, n % 2")),
    change("`time`, `apply`", NeedsHistory) { (_, query) =>
      query.window.time.map { now =>
        val next = Application.all.find(_ != now)
        query.copy(window = query.window.copy(time = next))
      }
    },
    Change(
      "`time`, `apply`",
      NeedsHistory,
      random => {
        val query = timedQuery(random)
        // No row of the stream is late by either time.
        val seen =
          query.copy(columns = Columns :+ "ts + make_dt_interval(0, 0, 0, k % 2 * 0.5) AS seen")
        val drawn = random.shuffle(Seq(seen, seen.copy(time = "seen")))
        (drawn.head, drawn.last)
      }),
    Change(
      "`apply` of a text with `unique`",
      Refused,
      random => {
        val drawn = random.shuffle(Application.all).map { time =>
          val window = windowOf(Esper -> "#unique(text)", Some(time))
          KeepQuery(window, Columns, "changes", Nil, idle = None)
        }
        (drawn.head, drawn.last)
      }),
    changed("the delay of the watermark", Continues)(_.copy(delay = "3 seconds")),
    Change(
      "the session time zone, if a result depends on it",
      NeedsHistory,
      random => {
        val query = randomQuery(random)
        val dependent =
          if (query.hasAggregates && random.nextBoolean()) {
            query.copy(functions = query.functions :+ "max(date_format(ts, 'HH'))")
          } else query.copy(partitionBy = "k, hour(ts)")
        (dependent, zoned(dependent))
      }),
    changed("the session time zone otherwise", Continues)(zoned))

  private def ofSchema(types: String): String =
    s"""from_json(concat('{"a":', coalesce(i, 0), ',"b":', k, '}'), '$types')"""

  private val ofOutput: Seq[Change] = Seq(
    change("between `changes()`, `inserts()` and `deletes()`", Continues) { (random, query) =>
      Option.when(query.output == "changes") {
        query.copy(kind = Some(pick(random, Seq("insert", "delete"))))
      }
    },
    change("`mode` of `agg()`", Continues) { (_, query) =>
      // A window with its own reports does not have this mode.
      val emitsUnchanged =
        query.window.dialect == Spl || query.window.policy.contains("FORCE_UPDATE")
      Option.when(query.output == "agg" && !emitsUnchanged)(query.copy(mode = "changes"))
    },
    change("aggregates or snapshots instead of changes", Rebuilt) { (random, query) =>
      Option.when(query.output == "changes") {
        val outputs = Seq("agg", "withColumns") ++ Seq("snapshots").filterNot(_ => reports(query))
        queryOf(random, query.window, pick(random, outputs))
      }
    },
    change("aggregates or snapshots instead of changes", Continues) { (random, query) =>
      Option.when(query.output == "changes" && reports(query)) {
        queryOf(random, query.window, "snapshots")
      }
    }.copy(isOfNote = true),
    change("changes instead of aggregates", Rebuilt) { (_, query) =>
      Option.when(query.hasAggregates)(query.copy(output = "changes", functions = Nil))
    },
    aggregates { (random, functions) =>
      Some(functions.patch(random.nextInt(functions.size + 1), Seq(other(random, functions)), 0))
    },
    aggregates((_, functions) => Option.when(functions.size > 1)(functions.tail)),
    aggregates((_, functions) => Option.when(functions.size > 1)(functions.reverse)),
    change("the name of an aggregate", Continues) { (_, query) =>
      Option.when(query.hasAggregates)(query.copy(valueName = "renamed"))
    },
    Change(
      "the length of a window with aggregates",
      Continues,
      random => {
        val (before, now) = anyLengths(random, 9)
        val time = pick(random, Seq(None, Some(Application.Arrival)))
        val all = if (random.nextInt(3) == 0) "KEEP ALL" else s"KEEP $before ROWS"
        val query = KeepQuery(
          RandomWindow(Ccl, all, time),
          Columns,
          "withColumns",
          Seq("count(*)", "min(n)"))
        (query, query.copy(window = query.window.copy(policy = s"KEEP $now ROWS")))
      },
      LastRows),
    Change(
      "another schema, option, lambda function or UDF in an aggregate",
      Rebuilt,
      random => {
        val (before, now) = pick(
          random,
          Seq(
            (ofSchema("a INT, b INT"), ofSchema("b INT, a INT")),
            ("transform(array(i, 1), v -> v * 2)", "transform(array(i, 1), v -> v * 3)")))
        val query = queryOf(random, randomWindow(random), pick(random, Seq("agg", "withColumns")))
        def of(value: String) = query.copy(functions = Seq(s"collect_list($value)"))
        (of(before), of(now))
      }),
    Change(
      "the same in the group, the order or the policy",
      NeedsHistory,
      random => {
        val query = randomQuery(random)
        def by(types: String) = query.copy(partitionBy = s"k, to_json(${ofSchema(types)})")
        (by("a INT, b INT"), by("b INT, a INT"))
      }))

  private val SourceOrder =
    "with `time`: an operator before `keep` that passes on, or loses, the order of the source"

  /** A column with structs in an array, of fields with their values. */
  private def fields(values: (String, String)*): String = {
    val arguments = values.map { case (name, value) => s"'$name', $value" }
    s"array(named_struct(${arguments.mkString(", ")})) AS fields"
  }

  private val ofInput: Seq[Change] = Seq(
    column("nullability of columns, and of what is in them", Continues)(
      "i",
      "coalesce(i, 0) AS i"),
    columns("a column is added") { (random, columns) =>
      columns.patch(random.nextInt(columns.size + 1), Seq("n * 2 AS extra"), 0)
    },
    columns("a column is removed")((_, columns) => columns.filterNot(_ == "y")),
    column("a column is renamed: one is removed and one is added", Rebuilt)("y", "y AS yy"),
    columns("columns are moved")((random, columns) => random.shuffle(columns)),
    column("a column is widened, such as int to bigint or to double", Rebuilt)("w", "i AS w"),
    // The window, the order or the group reads the column.
    change("a column is widened, such as int to bigint or to double", NeedsHistory) {
      (_, query) =>
        // No delta of SPL has the type DECIMAL.
        Option.when(!query.window.policy.contains("delta(n")) {
          query.copy(columns = query.columns.map { column =>
            if (column == "n") "CAST(n AS DECIMAL(20, 0)) AS n" else column
          })
        }
    }.copy(isOfNote = true),
    column("the name of a column is written in another case, and case does not matter", Rebuilt)(
      "y",
      "y AS Y"),
    Change(
      "the name of a column is written in another case, and case does not matter",
      NeedsHistory,
      random => {
        // The texts of Esper name the column as it is written.
        val query = Iterator
          .continually(timedQuery(random))
          .find(!_.window.policy.contains("ts"))
          .get
        val columns = query.columns.map(column => if (column == "ts") "ts AS TS" else column)
        (query, query.copy(columns = columns, time = "TS"))
      },
      isOfNote = true),
    column("a column gets another type otherwise", NeedsHistory)("y", "CAST(y AS FLOAT) AS y"),
    Change(
      "fields of a struct get other names or another order, at any depth",
      NeedsHistory,
      random => {
        val query = randomQuery(random)
        val (before, now) = (fields("a" -> "i", "b" -> "n"), fields("b" -> "n", "a" -> "i"))
        (query.copy(columns = Columns :+ before), query.copy(columns = Columns :+ now))
      }),
    Change(
      "fields of a struct get other names or another order, at any depth",
      NeedsHistory,
      random => {
        // A renamed field is NULL in rows that waited.
        val query = Iterator
          .continually(randomQuery(random))
          .find(!_.window.time.contains(Application.EventTime))
          .get
        val (before, now) = (fields("a" -> "i", "b" -> "n"), fields("a" -> "i", "c" -> "n"))
        (query.copy(columns = Columns :+ before), query.copy(columns = Columns :+ now))
      }),
    Change(
      SourceOrder,
      Refused,
      random => {
        val window = RandomWindow(Ccl, "KEEP 3 ROWS", Some(Application.EventTime))
        val query = KeepQuery(window, Columns, "changes", Nil, orderBy = "", isUnion = true)
        val drawn = random.shuffle(Seq(query, query.copy(isRepartitioned = true)))
        (drawn.head, drawn.last)
      },
      PlanOnly))

  private val partitions = SQLConf.SHUFFLE_PARTITIONS.key
  private val codec = SQLConf.STATE_STORE_COMPRESSION_CODEC.key

  private def settings(
      rule: String)(before: Map[String, String], now: Map[String, String]): Change =
    Change(
      rule,
      Continues,
      random => {
        val query = randomQuery(random)
        (query.copy(settings = before), query.copy(settings = now))
      })

  private val ofSettings: Seq[Change] = Seq(
    settings("state store provider, its compression, number of shuffle partitions")(
      Map(KeepStreamTest.hdfs),
      Map(KeepStreamTest.rocksDb, partitions -> "3", codec -> "zstd")),
    settings("changelog checkpointing of RocksDB")(
      Map(KeepStreamTest.rocksDb),
      Map(KeepStreamTest.rocksDb, KeepStreamTest.changelog)),
    changed("the checkpoint is moved or copied", Continues)(_.copy(place = "moved")))

  /** The rules about versions, which need another version of Spark or winops. */
  val OfVersions: Set[String] = Set(
    "`spark.sql.streaming.stateStore.checkpointFormatVersion`, 1 to 2 or back",
    "another minor version of Spark that winops supports, or back",
    "another version of winops with the same state format",
    "another state format")

  val all: Seq[Change] = ofWindow ++ ofOrder ++ ofOutput ++ ofInput ++ ofSettings
}
