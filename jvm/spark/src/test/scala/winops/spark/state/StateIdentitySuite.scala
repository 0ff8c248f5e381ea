package winops.spark.state

import org.json4s.JObject
import org.json4s.jackson.JsonMethods.{compact, parse, render}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeReference, Cast, Expression, SortOrder}
import org.apache.spark.sql.types.{ArrayType, DataType, DateType, IntegerType, LongType, Metadata, MetadataBuilder, StringType, StructField, StructType}
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.policy.Scope
import winops.spark.plan.{Application, KeepPlan, KeepSpec, Output, RestartOptions}
import winops.spark.restart.Outcome
import winops.spark.testing.KeepPlans
import winops.terms.Origin
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.esper.Esper
import winops.text.spl.Spl

class StateIdentitySuite extends AnyFunSuite {
  import KeepPlans._

  private val base = plan(spec("KEEP 2 ROWS", Some(Application.Arrival)), Seq(n))
  private val identity = StateIdentity.of(base)

  private def identityOf(spec: KeepSpec): String = StateIdentity.of(plan(spec, Seq(n)))

  test("the text is the same for ever, because checkpoints hold it") {
    assert(
      identity ==
        """{"dialect":"ccl","policy":"KEEP 2 ROWS","lengths":"rows","group":["k"],"keys":["bigint"],""" +
        """"order":["n ASC NULLS FIRST"],"time":"ts","apply":"arrival",""" +
        """"columns":{"type":"struct","fields":[""" +
        """{"name":"k","type":"long","nullable":true,"metadata":{}},""" +
        """{"name":"ts","type":"timestamp","nullable":true,"metadata":{}},""" +
        """{"name":"n","type":"long","nullable":true,"metadata":{}},""" +
        """{"name":"text","type":"string","nullable":true,"metadata":{}}]},"reads":["k","n","ts"],"format":1}""")
  }

  test("it does not depend on the identifiers that a query's columns get") {
    val renewed = content.map(column => column -> column.newInstance()).toMap
    val again = base.copy(
      keys = Seq(renewed(k)),
      groupExpressions = Seq(renewed(k)),
      order = Seq(SortOrder(renewed(n), Ascending)),
      time = Some(renewed(ts)),
      content = content.map(renewed))
    assert(StateIdentity.of(again) == identity)
  }

  test("what may change at a restart is not in it") {
    val other = base.spec
      .copy(idleMillis = Some(5L), maxRows = 7L, dropNullTime = true, output = Output.Rows)
    assert(StateIdentity.of(base.copy(spec = other)) == identity)
  }

  test("it does not matter whether the group is given in the policy or outside it") {
    val inside = plan(spec("KEEP 2 ROWS PER (k)", Some(Application.Arrival)), Seq(n))
    assert(StateIdentity.of(inside) == identity)
  }

  test("it does not matter what may be null") {
    val never = base.copy(content = content.map(_.withNullability(false)))
    assert(StateIdentity.of(never) == identity)
  }

  /** The plan with a column `s`, a struct in an array. */
  private def withStruct(field: DataType, comment: String = ""): KeepPlan = {
    val metadata =
      if (comment.isEmpty) Metadata.empty
      else new MetadataBuilder().putString("comment", comment).putLong("id", 7L).build()
    val struct = StructType(Seq(StructField("id", field, metadata = metadata)))
    val column = AttributeReference("s", ArrayType(struct), metadata = metadata)()
    base.copy(content = content :+ column)
  }

  test("it does not matter what is said about fields, but their collation does") {
    val plain = StateIdentity.of(withStruct(LongType))
    assert(StateIdentity.of(withStruct(LongType, "a comment")) == plain)
    val before = plain.replace("""metadata":{}}]}""", """metadata":{"comment":"another"}}]}""")
    assert(before != plain)
    assert(StateIdentity.check(before, plain).differences.isEmpty)
    def collated(collation: String) =
      StateIdentity.of(withStruct(StringType(collation), "a comment"))
    val (binary, ignoringCase) = (collated("UTF8_BINARY"), collated("UTF8_LCASE"))
    Seq(binary -> ignoringCase, ignoringCase -> binary).foreach { case (before, now) =>
      assert(StateIdentity.plan(before, now).differences.map(_.subject) == Seq("column s"))
    }
    assert(StateIdentity.check(ignoringCase, ignoringCase).differences.isEmpty)
  }

  test("columns of one name are told apart by their place among them") {
    val second = AttributeReference("n", LongType)()
    def planOf(column: Attribute, more: Attribute*) = base.copy(
      spec = base.spec.copy(output = Output.Agg),
      content = (more ++ content) :+ second,
      results = Seq(column))
    val (one, other) = (StateIdentity.of(planOf(n)), StateIdentity.of(planOf(second)))
    assert(StateIdentity.check(one, other).outcome == Outcome.Rebuilt)
    val wider = StateIdentity.of(planOf(second, AttributeReference("more", LongType)()))
    assert(
      StateIdentity.check(other, wider).differences.map(_.subject) ==
        Seq("column more"))
  }

  test("whatever decides over the state is in it") {
    def withSpec(change: KeepSpec => KeepSpec) = base.copy(spec = change(base.spec))
    val others = Seq(
      "policy" -> withSpec(_.copy(policy = spec("KEEP 2 SECONDS").policy)),
      "punctuation" -> withSpec(_.copy(punctuation = Some("text"))),
      "across" -> withSpec(_.copy(acrossGroups = true)),
      "apply" -> withSpec(_.copy(application = Some(Application.EventTime))),
      "time" -> base.copy(time = None),
      "order" -> withSpec(_.copy(order = Nil)),
      "order" -> withSpec(_.copy(order = Seq("n DESC NULLS LAST"))),
      "group" -> withSpec(_.copy(group = Seq("(k % 2L)"))),
      "column text" -> base.copy(content =
        content.init :+ AttributeReference("text", IntegerType)()))
    others.foreach { case (field, other) =>
      val refused = intercept[WinopsRuntimeException] {
        StateIdentity.check(identity, StateIdentity.of(other))
      }
      assert(refused.getCondition == "WINOPS_POLICY_CHANGED")
      val parameters = refused.getMessageParameters
      assert(parameters.get("before").startsWith(s"$field = "), refused.getMessage)
      assert(parameters.get("now").startsWith(s"$field = "), refused.getMessage)
      assert(parameters.get("before") != parameters.get("now"))
    }
  }

  test("a table allows what needs history, and nothing that is refused") {
    val hasHistory = RestartOptions(hasHistory = true)
    def planOf(now: KeepPlan, options: RestartOptions) =
      StateIdentity.plan(identity, StateIdentity.of(now), options)
    val ordered = base.copy(spec = base.spec.copy(order = Nil))
    val (without, found) = (planOf(ordered, RestartOptions()), planOf(ordered, hasHistory))
    assert(!without.isAllowed && without.obstacles.forall(_.remedy.contains("with_history")))
    assert(found.isAllowed && found.replaces && !found.rewrites && found.obstacles.isEmpty)
    assert(found.outcome == Outcome.NeedsHistory && found.hash != without.hash)
    Seq(
      base.copy(keys = Seq(AttributeReference("k", IntegerType)())),
      base.copy(keys = base.keys :+ n),
      base.copy(spec = base.spec.copy(punctuation = Some("text")))).foreach { other =>
      assert(planOf(other, hasHistory).outcome == Outcome.Refused)
      assert(planOf(other, hasHistory).obstacles.exists(_.remedy.contains("new checkpoint")))
    }
    val same = planOf(base, hasHistory)
    assert(!same.replaces && same.hash == planOf(base, RestartOptions()).hash)
    val unknown = identity.replace(""""keys":["bigint"],""", "")
    assert(StateIdentity.plan(unknown, identity).differences.isEmpty)
  }

  test("windows that differ in their length alone take each other's state") {
    Seq(
      Seq("KEEP 2 ROWS", "KEEP 3 ROWS SLACK 2", "KEEP EVERY 9 ROWS", "KEEP ALL"),
      Seq("KEEP 2 SECONDS", "KEEP 1 HOUR"),
      Seq("KEEP EVERY 2 SECONDS", "KEEP EVERY 1 HOUR")).foreach { windows =>
      val byTime = !windows.contains("KEEP ALL")
      for (before <- windows; now <- windows) {
        val (was, is) = (identityOf(spec(before)), identityOf(spec(now)))
        assert(StateIdentity.check(was, is).outcome == Outcome.Continues)
        assert(StateIdentity.changesDueTimes(was, is) == (byTime && before != now))
      }
    }
  }

  test("a version that knows more windows that differ in their length alone goes on with one") {
    val before = identity.replace(""""lengths":"rows",""", "")
    assert(before != identity)
    assert(StateIdentity.check(before, identity).isAllowed)
    intercept[WinopsRuntimeException] {
      StateIdentity.check(before, identityOf(spec("KEEP 3 ROWS", Some(Application.Arrival))))
    }
  }

  test("a checkpoint that does not say how its aggregates are stored goes on with them") {
    val ofAggregates = base.copy(spec = base.spec.copy(output = Output.Agg))
    val now = StateIdentity.of(ofAggregates)
    val before = compact(render(parse(now).removeField(_._1 == "aggregates")))
    assert(before != now && StateIdentity.check(before, now).differences.isEmpty)
    refuses(before, identity)
  }

  private def refuses(before: String, now: String): Unit = {
    val refused = intercept[WinopsRuntimeException](StateIdentity.check(before, now))
    assert(refused.getCondition == "WINOPS_POLICY_CHANGED")
  }

  test("a length is the only thing that may be another then") {
    refuses(
      identity,
      identityOf(spec("KEEP 3 ROWS").copy(application = Some(Application.EventTime))))
    Seq(
      (Esper, "#sort(2, n)", "#sort(3, n)"),
      (Esper, "#length_batch(2)", "#length_batch(3)"),
      (Esper, "#length(2)#unique(text)", "#length(3)#unique(text)"),
      (Esper, "#firstlength(2)", "#firstlength(3)"),
      (Esper, "#time_batch(2 sec)", "#time_batch(3 sec)"),
      (Apama, "retain 2", "retain 3"),
      (Apama, "within 2.0", "within 3.0"),
      (Spl, "sliding, count(2)", "sliding, count(3)"),
      (Spl, "tumbling, time(2)", "tumbling, time(3)")).foreach { case (dialect, before, now) =>
      refuses(
        identityOf(spec(before, dialect = dialect)),
        identityOf(spec(now, dialect = dialect)))
    }
  }

  test("intervals that count from elsewhere are refused, whatever their length") {
    val counting = for {
      origin <- Seq(None, Some(Origin.At(5L)), Some(Origin.FirstRow))
      interval <- Seq("2 SECONDS", "1 HOUR")
    } yield {
      val scope = Scope(columns = content.map(_.name), origin = origin, isGrouped = true)
      val policy = Ccl.parse(s"KEEP EVERY $interval", scope).toOption.get
      origin -> identityOf(spec("KEEP ALL").copy(policy = policy))
    }
    for ((was, before) <- counting; (is, now) <- counting) {
      if (was == is) assert(StateIdentity.check(before, now).isAllowed) else refuses(before, now)
    }
  }

  test("the zone of the session counts where an expression depends on it, and only there") {
    def grouped(column: Attribute, as: DataType, zone: String) =
      StateIdentity.of(base.copy(groupExpressions = Seq(Cast(column, as, Some(zone)))))
    val refused = intercept[WinopsRuntimeException] {
      StateIdentity.check(grouped(ts, DateType, "UTC"), grouped(ts, DateType, "Asia/Tokyo"))
    }
    assert(refused.getMessageParameters.get("now") == "zone = \"Asia/Tokyo\"")
    val elsewhere = Seq[Expression => KeepPlan](
      day => base.copy(order = Seq(SortOrder(day, Ascending))),
      day => base.copy(by = Seq(day)),
      day => base.copy(results = Seq(day)))
    elsewhere.foreach { planOf =>
      def identityIn(zone: String) = StateIdentity.of(planOf(Cast(ts, DateType, Some(zone))))
      refuses(identityIn("UTC"), identityIn("Asia/Tokyo"))
    }
    assert(grouped(text, LongType, "UTC") == grouped(text, LongType, "Asia/Tokyo"))
  }

  test("the error for two keeps that differ in one thing names only that one") {
    val other = base.copy(spec = base.spec.copy(group = Seq("(k % 2L)")))
    val refused = intercept[WinopsRuntimeException] {
      StateIdentity.check(identity, StateIdentity.of(other))
    }
    assert(refused.getMessageParameters.get("before") == "group = [\"k\"]")
    assert(refused.getMessageParameters.get("now") == "group = [\"(k % 2L)\"]")
  }

  test("the order of the fields does not matter") {
    val fields = parse(identity).asInstanceOf[JObject].obj
    assert(
      StateIdentity.check(compact(render(JObject(fields.reverse))), identity).differences.isEmpty)
  }

  test("another format is refused by name") {
    val refused = intercept[WinopsRuntimeException] {
      StateIdentity.check(
        identity.replace(s"\"format\":${StateVersion.Current}", "\"format\":999"),
        identity)
    }
    assert(refused.getCondition == "WINOPS_STATE_FORMAT")
  }

  test("state as it is now is taken over") {
    assert(StateIdentity.check(identity, StateIdentity.of(base)).differences.isEmpty)
  }
}
