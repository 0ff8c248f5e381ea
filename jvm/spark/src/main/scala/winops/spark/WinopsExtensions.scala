package winops.spark

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

import winops.spark.analysis.{CheckStreamStart, ResolveKeep}
import winops.spark.execution.StreamReporter
import winops.spark.internal.WinopsErrors
import winops.spark.over.ResolveOver

/** Registers winops in every session of an application that has its JAR. Spark finds this class
  * through `META-INF/services`. Applications that switch this off name the class in
  * `spark.sql.extensions`.
  */
final class WinopsExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    SparkVersion.mismatch() match {
      case None => inject(extensions)
      // Spark runs injected rules in every query, so on another version only failing functions
      // and `winops_version` are registered.
      case Some(_) =>
        Seq(KeepFunction.Name, StateFunction.Name, RepartitionFunction.Name).foreach { name =>
          extensions.injectTableFunction(described(name, new RefusedFunction(mismatch), ""))
        }
        extensions.injectFunction(described(VersionFunction.Name, VersionFunction, ""))
    }

  private def mismatch: SparkVersionException = SparkVersion.mismatch().get

  private def inject(extensions: SparkSessionExtensions): Unit = {
    WinopsErrors.register()
    extensions.injectTableFunction(
      described(KeepFunction.Name, KeepFunction, KeepFunction.usage, KeepFunction.Examples))
    extensions.injectTableFunction(
      described(StateFunction.Name, StateFunction, StateFunction.Usage))
    extensions.injectTableFunction(
      described(RepartitionFunction.Name, RepartitionFunction, RepartitionFunction.Usage))
    extensions.injectFunction(
      described(VersionFunction.Name, VersionFunction, VersionFunction.Usage))
    extensions.injectFunction(
      described(WarningsFunction.Name, WarningsFunction, WarningsFunction.Usage))
    extensions.injectResolutionRule(_ => ResolveKeep)
    extensions.injectPostHocResolutionRule(_ => ResolveOver)
    extensions.injectHintResolutionRule(_ => CheckStreamStart)
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
