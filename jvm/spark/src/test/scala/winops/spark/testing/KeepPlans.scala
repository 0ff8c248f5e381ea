package winops.spark.testing

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeReference, RowOrdering, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types.{BooleanType, LongType, StringType, TimestampType}

import winops.policy.{Policy, Scope}
import winops.spark.analysis.{ColumnKinds, OutputColumns, Projections, ResolvedPolicy, SeveralWindows, WindowResults}
import winops.spark.expressions.{PolicyExpressions, UnqualifiedSql}
import winops.spark.plan.{Application, FramedFunction, KeepPlan, KeepSpec, OperatorPlan, OperatorSpec, Output, OverPlan, OverSpec}
import winops.spark.row.KeyHash
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect

/** Plans over rows of a group `k`, a time `ts`, an order `n` and a text `text`, without a
  * session.
  */
object KeepPlans {
  val k: Attribute = AttributeReference("k", LongType)()
  val ts: Attribute = AttributeReference("ts", TimestampType)()
  val n: Attribute = AttributeReference("n", LongType)()
  val text: Attribute = AttributeReference("text", StringType)()
  val position: Attribute = AttributeReference("_position", LongType, nullable = false)()

  val content: Seq[Attribute] = Seq(k, ts, n, text)
  val input: Seq[Attribute] = content :+ position

  /** The column that is true for rows of a table before the stream. */
  val ofHistory: Attribute = AttributeReference("_of_history", BooleanType, nullable = false)()

  private val table = LocalRelation(content)
  private val scope = Scope(
    columns = content.map(_.name),
    kinds = content.map(column => column.name -> ColumnKinds.of(column.dataType)).toMap,
    isGrouped = true)

  def policyOf(dialect: Dialect, text: String): Policy = dialect
    .parse(text, scope)
    .fold(error => throw new IllegalArgumentException(error.toString), identity)

  /** Independent windows with the names `w0`, `w1` and so on. */
  def policyOf(dialect: Dialect, texts: Seq[String]): Policy = {
    val windows = texts.zipWithIndex.map { case (text, i) =>
      val policy = policyOf(dialect, text)
      s"w$i" -> ResolvedPolicy(policy, expressionsOf(policy))
    }
    SeveralWindows.of(windows).policy
  }

  private def expressionsOf(policy: Policy): PolicyExpressions = PolicyExpressions
    .resolve(policy, content)
    .fold(problem => throw new IllegalArgumentException(problem.toString), identity)

  def spec(
      policy: String,
      application: Option[Application] = None,
      idleMillis: Option[Long] = None,
      maxRows: Long = OperatorSpec.DefaultMaxRows,
      dropNullTime: Boolean = false,
      dialect: Dialect = Ccl): KeepSpec =
    KeepSpec(
      dialect = dialect.name,
      policy = policyOf(dialect, policy),
      group = Nil,
      order = Nil,
      application = application,
      idleMillis = idleMillis,
      maxRows = maxRows,
      dropNullTime = dropNullTime)

  def plan(
      spec: KeepSpec,
      order: Seq[Attribute] = Nil,
      keys: Seq[Attribute] = Seq(k)): KeepPlan = {
    val time = spec.application.map(_ => ts)
    val sorted = order.map(SortOrder(_, Ascending))
    KeepPlan(
      spec =
        spec.copy(group = keys.map(UnqualifiedSql.of), order = sorted.map(UnqualifiedSql.of)),
      keys = keys,
      groupExpressions = keys,
      shownKeys = Nil,
      expressions = expressionsOf(spec.policy).ofRows,
      punctuation = None,
      order = sorted,
      time = time,
      changeColumns = OutputColumns.of(spec, time, keys, table),
      by = Nil,
      results = Nil,
      content = content,
      sourcePartition = None,
      positions = Seq(position))
  }

  /** The plan for aggregates of windows, emitted with each inserted row or for each step. */
  def computing(plan: KeepPlan, output: Output, results: WindowResults): KeepPlan = {
    val spec = plan.spec.copy(output = output)
    plan.copy(
      spec = spec,
      changeColumns = OutputColumns.of(spec, plan.time, plan.keys, table) ++ results.columns,
      by = results.by,
      results = results.values)
  }

  /** The plan for the values that the policy itself computes. */
  def projected(plan: KeepPlan): KeepPlan = {
    val projection = plan.spec.policy.projection.get
    val aggregates = Projections
      .resolve(projection, content)
      .fold(problem => throw new IllegalArgumentException(problem.toString), identity)
    computing(
      plan.copy(spec =
        plan.spec.copy(acrossGroups = projection.acrossGroups, ofProjection = true)),
      Output.Agg,
      WindowResults.ofContent(
        if (projection.acrossGroups) aggregates
        else aggregates.withoutKeys(plan.keys.map(key => key.name -> key))))
  }

  /** The plan of window functions in the order of `ts` and `n`. */
  def over(functions: Seq[FramedFunction], idleMillis: Option[Long] = None): OverPlan = {
    val order = Seq(SortOrder(n, Ascending))
    OverPlan(
      spec = OverSpec(
        group = Seq(UnqualifiedSql.of(k)),
        order = order.map(UnqualifiedSql.of),
        application = Some(Application.EventTime),
        idleMillis = idleMillis,
        maxRows = OperatorSpec.DefaultMaxRows,
        dropNullTime = false,
        flushesAtEnd = false,
        exactFloats = false),
      keys = Seq(k),
      groupExpressions = Seq(k),
      order = order,
      time = Some(ts),
      changeColumns =
        functions.map(one => AttributeReference("value", one.dataType, nullable = true)()),
      results = functions,
      content = content,
      sourcePartition = None,
      positions = Seq(position))
  }

  /** Rows in input order, all in one reused object, as after a sorted shuffle. */
  def inInputOrder(
      plan: OperatorPlan,
      rows: Seq[UnsafeRow],
      input: Seq[Attribute] = input): Iterator[UnsafeRow] = {
    val reused = UnsafeRow.createFromByteArray(0, input.size)
    val hash = KeyHash(plan.keys, input)
    val sorted =
      if (plan.spec.runsInOneTask) rows.sorted(RowOrdering.create(plan.inputOrder, input))
      else rows.sortBy(hash(_) ^ Long.MinValue)
    sorted.iterator.map { row =>
      reused.copyFrom(row)
      reused
    }
  }
}
