package winops.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.json4s.jackson.JsonMethods.parse

import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.restart.StoredTypes
import winops.spark.state.{StateGroupStore, StateIdentity}
import winops.spark.testing.{Damage, KeepPlans, SpiedType}
import winops.terms.RowExpression
import winops.testing.TableTests
import winops.text.esper.Esper
import winops.window.time.Clock

/** The description of a `keep` in a checkpoint, as written and with alterations. */
class StoredKeepSuite extends TableTests {
  private val plan = KeepPlans.plan(
    KeepPlans.spec("#sort(300, text desc, n)", idleMillis = Some(60000L), dialect = Esper),
    Seq(KeepPlans.n))
  private val identity = StateIdentity.of(plan)
  private val entryKeys = StateGroupStore.keySchema(plan.keys)

  test("a keep is read as it was written") {
    val stored = StoredKeep(identity, entryKeys)
    assert(stored.content.map(_.name) == plan.content.map(_.name))
    assert(stored.content.map(_.dataType) == plan.content.map(_.dataType))
    assert(stored.keys.map(_.dataType) == plan.keys.map(_.dataType))
  }

  test("the key of the rows, and the number of rows behind the window, are read") {
    val policy = plan.spec.policy.copy(key = Seq(RowExpression.Column("n")(0)), buffer = 7L)
    val keyed = plan.copy(spec = plan.spec.copy(policy = policy, idleMillis = None))
    val stored = StoredKeep(StateIdentity.of(keyed), entryKeys).keepOf(Clock.Never).spec.policy
    assert((stored.key, stored.buffer) == ((policy.key, 7L)))
  }

  test("what is damaged is reported by name, or is another keep") {
    val random = new Random(11)
    val damage = new Damage(random)
    val whole = identity.getBytes(UTF_8)
    val outcomes = Seq.fill(400)(outcome(new String(damage.of(whole), UTF_8)))
    assert(outcomes.toSet == Set("another", "WINOPS_STATE_FORMAT"))
  }

  testEach("what is not JSON, or not of these types, is reported by name")(
    "",
    "{",
    "[]",
    "7",
    "null",
    "[" * 100000,
    identity
      .replace("\"columns\":{", "\"columns\":[{")
      .replace("]},\"format\"", "]}],\"format\""),
    identity.replace("\"timestamp\"", "\"no type\""),
    identity.replace("\"timestamp\"", "7"),
    identity.replace("\"esper\"", "7"),
    identity.replace("#sort", "#nothing")) { text =>
    assert(text != identity)
    assert(outcome(text) == "WINOPS_STATE_FORMAT")
    StoredKeep.windowOf(text)
  }

  test("a user-defined type is the one that its values are stored as; no class is made") {
    val user = new SpiedType
    val types = Seq(
      user,
      ArrayType(user),
      MapType(StringType, user),
      new StructType().add("inside", ArrayType(new StructType().add("deep", user))),
      new StructType().add("udt", StringType).add("sqlType", user))
    val columns = types.zipWithIndex.foldLeft(new StructType()) { case (row, (dataType, i)) =>
      row.add(
        s"c$i",
        dataType,
        nullable = true,
        new MetadataBuilder().putString("type", "udt").build())
    }
    val asStored = StructType.fromDDL(
      "c0 STRING, c1 ARRAY<STRING>, c2 MAP<STRING, STRING>, " +
        "c3 STRUCT<inside: ARRAY<STRUCT<deep: STRING>>>, c4 STRUCT<udt: STRING, sqlType: STRING>")
    val made = SpiedType.madeBy {
      val read = StoredTypes.columns(parse(columns.json)).get
      assert(read.map(_.dataType) == asStored.map(_.dataType))
      assert(read.map(_.metadata) == columns.map(_.metadata))
    }
    assert(made == 0)
  }

  test("a class that a damaged or forged checkpoint names is not made") {
    val types = Seq(
      s"""{"type":"udt","class":"${classOf[
          SpiedType].getName}","pyClass":null,"sqlType":"long"}""",
      s"""{"type":"udt","class":"${classOf[SpiedType].getName}","pyClass":null,"sqlType":7}""",
      s"""{"type":"udt","class":"${classOf[SpiedType].getName}","pyClass":null,"sqlType":
         |{"type":"udt","class":"${classOf[
          SpiedType].getName}","pyClass":null,"sqlType":"long"}}""".stripMargin)
    val made = SpiedType.madeBy(types.foreach { forged =>
      outcome(identity.replaceFirst("\"timestamp\"", forged))
    })
    assert(made == 0)
  }

  private def outcome(identity: String): String =
    try {
      StoredKeep(identity, entryKeys)
      "another"
    } catch { case error: WinopsRuntimeException => error.getCondition }
}
