package org.apache.spark.sql.winops.harness

import org.apache.spark.sql.catalyst.analysis.{Analyzer, FunctionRegistry, NoSuchFunctionException, TableFunctionRegistry}
import org.apache.spark.sql.catalyst.catalog.{InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Spark's analyzer without a session: with Spark's own functions and without tables.
  *
  * @param rule
  *   runs after the resolution
  */
final class BuiltinAnalyzer(rule: Rule[LogicalPlan]) {
  private val functions =
    new SessionCatalog(
      new InMemoryCatalog,
      FunctionRegistry.builtin,
      TableFunctionRegistry.builtin)

  private val analyzer = new Analyzer(CatalogsOfAnalyzer.of(NoOtherFunctions, functions)) {
    override val postHocResolutionRules: Seq[Rule[LogicalPlan]] = Seq(rule)
  }

  /** Resolves a plan. Throws Spark's error if the plan is not valid. */
  def analyzed(plan: LogicalPlan): LogicalPlan = {
    val resolved = analyzer.execute(plan)
    analyzer.checkAnalysis(resolved)
    resolved
  }
}

private object NoOtherFunctions extends FunctionCatalog {
  override def name: String = "spark_catalog"
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()
  override def listFunctions(namespace: Array[String]): Array[Identifier] = Array.empty

  override def loadFunction(identifier: Identifier): UnboundFunction =
    throw new NoSuchFunctionException(identifier)
}
