package winops.spark

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.winops.checkpoint.ResolveRestartPlan

import winops.spark.analysis.{CheckStreamStart, HoistHistory, ResolveAsOf, ResolveKeep}
import winops.spark.execution.StreamReporter
import winops.spark.internal.WinopsErrors
import winops.spark.over.{CheckRangeFrames, ResolveOver}
import winops.spark.plan.ColumnsOfInput

/** Registers winops in a session of the Spark version that the JAR is for. */
private[spark] object Registration {
  def inject(extensions: SparkSessionExtensions): Unit = {
    WinopsErrors.register()
    extensions.injectTableFunction(
      described(KeepFunction.Name, KeepFunction, KeepFunction.usage, KeepFunction.Examples))
    extensions.injectTableFunction(
      described(StateFunction.Name, StateFunction, StateFunction.Usage))
    extensions.injectTableFunction(
      described(RepartitionFunction.Name, RepartitionFunction, RepartitionFunction.Usage))
    extensions.injectTableFunction(
      described(ForgetFunction.Name, ForgetFunction, ForgetFunction.Usage))
    extensions.injectTableFunction(
      described(HistoryFunction.Name, HistoryFunction, HistoryFunction.Usage))
    extensions.injectTableFunction(described(AsOfFunction.Name, AsOfFunction, AsOfFunction.Usage))
    extensions.injectTableFunction(
      described(RestartPlanFunction.Name, RestartPlanFunction, RestartPlanFunction.Usage))
    extensions.injectFunction(
      described(VersionFunction.Name, VersionFunction, VersionFunction.Usage))
    extensions.injectFunction(
      described(WarningsFunction.Name, WarningsFunction, WarningsFunction.Usage))
    extensions.injectFunction(
      described(SampleFunction.Name, SampleFunction, SampleFunction.Usage))
    extensions.injectResolutionRule(_ => ResolveKeep)
    extensions.injectPostHocResolutionRule(_ => CheckRangeFrames)
    extensions.injectPostHocResolutionRule(_ => ResolveAsOf)
    extensions.injectPostHocResolutionRule(_ => ResolveOver)
    extensions.injectPostHocResolutionRule(_ => ColumnsOfInput)
    extensions.injectPostHocResolutionRule(_ => HoistHistory)
    extensions.injectPostHocResolutionRule(_ => ResolveRestartPlan)
    extensions.injectHintResolutionRule(_ => CheckStreamStart)
    extensions.injectOptimizerRule(_ => ReadHistory)
    extensions.injectHintResolutionRule(new StreamReporter.Registration(_))
    extensions.injectPlannerStrategy(_ => KeepStrategy)
  }

  /** The registration of a function with the texts that DESCRIBE FUNCTION shows. */
  private def described[T](
      name: String,
      function: Seq[Expression] => T,
      usage: String,
      examples: String = "") = {
    val owner = function.getClass.getName.stripSuffix("$")
    val info =
      new ExpressionInfo(owner, null, name, usage, "", examples, "", "", "", "", "scala_udf")
    (FunctionIdentifier(name), info, function)
  }
}
