package winops.spark

import org.json4s.JObject
import org.json4s.jackson.JsonMethods.{compact, parse, render}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{Ascending, AttributeReference, SortOrder}
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.winops.WinopsRuntimeException

class StateIdentitySuite extends AnyFunSuite {
  import KeepPlans._

  private val base = plan(spec("KEEP 2 ROWS", Some(Application.Arrival)), Seq(n))
  private val identity = StateIdentity.of(base)

  test("the text is the same for ever, because checkpoints hold it") {
    assert(
      identity ==
        """{"dialect":"ccl","policy":"KEEP 2 ROWS","group":["k"],""" +
        """"order":["n ASC NULLS FIRST"],"time":"ts","apply":"arrival",""" +
        """"columns":{"type":"struct","fields":[""" +
        """{"name":"k","type":"long","nullable":true,"metadata":{}},""" +
        """{"name":"ts","type":"timestamp","nullable":true,"metadata":{}},""" +
        """{"name":"n","type":"long","nullable":true,"metadata":{}},""" +
        """{"name":"text","type":"string","nullable":true,"metadata":{}}]},"format":3}""")
  }

  test("it does not depend on the identifiers that a query's columns get") {
    val renewed = content.map(column => column -> column.newInstance()).toMap
    val again = base.copy(
      keys = Seq(renewed(k)),
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

  test("whatever decides over the state is in it") {
    def withSpec(change: KeepSpec => KeepSpec) = base.copy(spec = change(base.spec))
    val others = Seq(
      "policy" -> withSpec(_.copy(policy = spec("KEEP 3 ROWS").policy)),
      "apply" -> withSpec(_.copy(application = Some(Application.EventTime))),
      "time" -> base.copy(time = None),
      "order" -> withSpec(_.copy(order = Nil)),
      "order" -> withSpec(_.copy(order = Seq("n DESC NULLS LAST"))),
      "group" -> withSpec(_.copy(group = Seq("(k % 2L)"))),
      "columns" -> base.copy(content = content.init),
      "columns" -> base.copy(content = content.init :+ text.withName("remark")),
      "columns" -> base.copy(content = content.init :+ AttributeReference("text", IntegerType)()))
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

  test("of two keeps that differ in one thing only that one is told") {
    val other = base.copy(spec = base.spec.copy(group = Seq("(k % 2L)")))
    val refused = intercept[WinopsRuntimeException] {
      StateIdentity.check(identity, StateIdentity.of(other))
    }
    assert(refused.getMessageParameters.get("before") == "group = [\"k\"]")
    assert(refused.getMessageParameters.get("now") == "group = [\"(k % 2L)\"]")
  }

  test("the order of the fields does not matter") {
    val fields = parse(identity).asInstanceOf[JObject].obj
    StateIdentity.check(compact(render(JObject(fields.reverse))), identity)
  }

  test("another format is told as such") {
    val refused = intercept[WinopsRuntimeException] {
      StateIdentity.check(identity.replace("\"format\":3", "\"format\":4"), identity)
    }
    assert(refused.getCondition == "WINOPS_STATE_FORMAT")
  }

  test("state as it is now is taken over") {
    StateIdentity.check(identity, StateIdentity.of(base))
  }
}
