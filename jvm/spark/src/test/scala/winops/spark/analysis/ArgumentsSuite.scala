package winops.spark.analysis

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{CreateMap, CreateNamedStruct, Expression, FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression, Rand}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types.{BooleanType, Decimal, IntegerType, NullType}

import winops.policy.Parameter
import winops.spark.plan.Application
import winops.spark.testing.KeepPlans
import winops.terms.Origin

class ArgumentsSuite extends AnyFunSuite {
  private val table = FunctionTableSubqueryArgumentExpression(LocalRelation(KeepPlans.content))
  private val policy = Literal("KEEP 2 ROWS")

  private def argumentsOf(named: (String, Expression)*): Arguments = new Arguments(
    Seq(table, policy) ++ named.map { case (name, value) =>
      NamedArgumentExpression(name, value)
    })

  private def refused(kind: String, name: String)(body: => Any): Unit = {
    val error = intercept[AnalysisException](body)
    assert(error.getCondition == s"WINOPS_ARGUMENT.$kind")
    assert(error.getMessageParameters.get("name") == name)
    assert(error.getMessageParameters.get("expected").nonEmpty)
  }

  test("the policy is the second argument, or the one of that name, and may be empty") {
    assert(new Arguments(Seq(table, policy)).policy._2 == "KEEP 2 ROWS")
    assert(
      new Arguments(
        Seq(table, NamedArgumentExpression("policy", policy))).policy._2 == "KEEP 2 ROWS")
    assert(new Arguments(Seq(table, Literal(""))).policy._2 == "")
    refused("VALUE", "policy")(new Arguments(Seq(table, Literal(2))).policy)
    refused("VALUE", "policy")(new Arguments(Seq(table, Literal(null, NullType))).policy)
  }

  test("a call without a policy is refused") {
    refused("MISSING", "policy")(new Arguments(Seq(table)).policy)
    val output = NamedArgumentExpression("output", Literal("rows"))
    refused("MISSING", "policy")(new Arguments(Seq(table, output)).policy)
  }

  test("the table is the first argument and is not left out") {
    assert(new Arguments(Seq(table)).table eq table)
    refused("MISSING", "table")(new Arguments(Nil))
    refused("MISSING", "table")(new Arguments(Seq(policy)))
  }

  test("names are known in any case, each once") {
    assert(argumentsOf("TIME" -> Literal("ts")).text("time").contains("ts"))
    assert(argumentsOf().text("time").isEmpty)
    refused("UNKNOWN", "tiem")(argumentsOf("tiem" -> Literal("ts")))
    refused("DUPLICATE", "time")(argumentsOf("time" -> Literal("ts"), "Time" -> Literal("ts")))
    refused("DUPLICATE", "policy")(argumentsOf("policy" -> policy))
    refused("UNKNOWN", "3")(new Arguments(Seq(table, policy, Literal(3))))
  }

  test("a value that is no constant, or of another type, is refused") {
    refused("VALUE", "time")(argumentsOf("time" -> KeepPlans.ts).text("time"))
    refused("VALUE", "time")(argumentsOf("time" -> Rand(Literal(1L))).text("time"))
    refused("VALUE", "time")(argumentsOf("time" -> Literal(5)).text("time"))
    refused("VALUE", "origin")(argumentsOf("origin" -> Literal(1.5)).origin)
    refused("VALUE", "max_rows")(argumentsOf("max_rows" -> Literal("9")).positiveLong("max_rows"))
    refused("VALUE", "max_rows")(argumentsOf("max_rows" -> Literal(0)).positiveLong("max_rows"))
    refused("VALUE", "max_rows") {
      argumentsOf("max_rows" -> Literal(null, IntegerType)).positiveLong("max_rows")
    }
  }

  test("whole numbers of every width are taken") {
    Seq[Any](7.toByte, 7.toShort, 7, 7L).foreach { seven =>
      assert(argumentsOf("max_rows" -> Literal(seven)).positiveLong("max_rows").contains(7L))
      assert(argumentsOf("origin" -> Literal(seven)).origin.contains(Origin.At(7L)))
    }
    assert(argumentsOf("origin" -> Literal("first")).origin.contains(Origin.FirstRow))
  }

  test("one of a few words, in any case") {
    def applied(text: String) =
      argumentsOf("apply" -> Literal(text)).oneOf("apply", Application.all)(_.name)
    assert(applied("Arrival").contains(Application.Arrival))
    assert(argumentsOf().oneOf("apply", Application.all)(_.name).isEmpty)
    val error = intercept[AnalysisException](applied("sometimes"))
    assert(error.getMessage.contains("'event_time' or 'arrival'"))
  }

  test("parameters come from a struct or a map, and null means none") {
    val struct = CreateNamedStruct(
      Seq(
        Literal("n"),
        Literal(3),
        Literal("unit"),
        Literal("DAYS"),
        Literal("share"),
        Literal(Decimal("0.25")),
        Literal("x"),
        Literal(1.5f),
        Literal("y"),
        Literal(0.1)))
    assert(
      argumentsOf("params" -> struct).parameters("params") == Map(
        "n" -> Parameter.Whole(3),
        "unit" -> Parameter.Text("DAYS"),
        "share" -> Parameter.Fraction(BigDecimal("0.25")),
        "x" -> Parameter.Fraction(BigDecimal("1.5")),
        "y" -> Parameter.Fraction(BigDecimal("0.1"))))
    val map = CreateMap(Seq(Literal("n"), Literal(3L), Literal("m"), Literal(4L)))
    assert(
      argumentsOf("params" -> map).parameters("params") ==
        Map("n" -> Parameter.Whole(3), "m" -> Parameter.Whole(4)))
    assert(argumentsOf("params" -> Literal(null, NullType)).parameters("params").isEmpty)
    assert(argumentsOf().parameters("params").isEmpty)
  }

  test("parameters that are neither texts nor finite numbers are refused") {
    Seq(
      Literal(true),
      Literal(null, IntegerType),
      Literal(null, BooleanType),
      Literal(Double.NaN),
      Literal(Float.PositiveInfinity)).foreach { value =>
      refused("VALUE", "params") {
        argumentsOf("params" -> CreateNamedStruct(Seq(Literal("n"), value))).parameters("params")
      }
    }
    refused("VALUE", "params")(argumentsOf("params" -> Literal(5)).parameters("params"))
  }
}
