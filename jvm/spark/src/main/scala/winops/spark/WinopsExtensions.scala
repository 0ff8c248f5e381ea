package winops.spark

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** Makes winops known to every session of an application that has its JAR: Spark finds this class
  * through `META-INF/services`. Where that is switched off, name it in `spark.sql.extensions`.
  */
final class WinopsExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectTableFunction(
      (
        FunctionIdentifier(KeepFunction.Name),
        info(KeepFunction.getClass, KeepFunction.Name),
        KeepFunction))
    extensions.injectTableFunction(
      (
        FunctionIdentifier(StateFunction.Name),
        info(StateFunction.getClass, StateFunction.Name),
        StateFunction))
    extensions.injectTableFunction(
      (
        FunctionIdentifier(RepartitionFunction.Name),
        info(RepartitionFunction.getClass, RepartitionFunction.Name),
        RepartitionFunction))
    extensions.injectFunction(
      (
        FunctionIdentifier(VersionFunction.Name),
        info(VersionFunction.getClass, VersionFunction.Name),
        VersionFunction))
    extensions.injectFunction(
      (
        FunctionIdentifier(WarningsFunction.Name),
        info(WarningsFunction.getClass, WarningsFunction.Name),
        WarningsFunction))
    extensions.injectResolutionRule(_ => ResolveKeep)
    extensions.injectHintResolutionRule(_ => CheckStreamStart)
    extensions.injectPlannerStrategy(_ => KeepStrategy)
  }

  private def info(owner: Class[_], name: String) =
    new ExpressionInfo(owner.getName.stripSuffix("$"), name)
}
