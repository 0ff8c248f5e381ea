package winops.spark

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

/** Makes winops known to every session of an application that has its JAR: Spark finds this class
  * through `META-INF/services`. Where that is switched off, name it in `spark.sql.extensions`.
  */
final class WinopsExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectTableFunction(named(KeepFunction.Name, KeepFunction))
    extensions.injectTableFunction(named(StateFunction.Name, StateFunction))
    extensions.injectTableFunction(named(RepartitionFunction.Name, RepartitionFunction))
    extensions.injectFunction(named(VersionFunction.Name, VersionFunction))
    extensions.injectFunction(named(WarningsFunction.Name, WarningsFunction))
    extensions.injectResolutionRule(_ => ResolveKeep)
    extensions.injectHintResolutionRule(_ => CheckStreamStart)
    extensions.injectPlannerStrategy(_ => KeepStrategy)
  }

  private def named[T](name: String, function: Seq[Expression] => T) = {
    val owner = function.getClass.getName.stripSuffix("$")
    (FunctionIdentifier(name), new ExpressionInfo(owner, name), function)
  }
}
