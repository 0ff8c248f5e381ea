package winops.spark;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.Seq;

/**
 * What is registered on a Spark version that the JAR does not support: table functions that fail,
 * and {@code winops_version}, by which a client knows that the JAR is there. Nothing else, because
 * Spark runs injected rules in every query.
 */
final class RefusedVersion {
  private static final String[] TABLE_FUNCTIONS = {
    "keep",
    "winops_state",
    "winops_repartition",
    "winops_forget",
    "winops_restart_plan",
    "with_history",
    "asof_join"
  };

  private RefusedVersion() {}

  static void inject(SparkSessionExtensions extensions, SparkVersionException error) {
    for (String name : TABLE_FUNCTIONS) {
      Function1<Seq<Expression>, LogicalPlan> function = new RefusedFunction<>(error);
      extensions.injectTableFunction(
          new Tuple3<>(new FunctionIdentifier(name), info(name), function));
    }
    Function1<Seq<Expression>, Expression> version = new VersionOfJar<>();
    extensions.injectFunction(
        new Tuple3<>(
            new FunctionIdentifier("winops_version"), info("winops_version"), version));
  }

  private static ExpressionInfo info(String name) {
    String owner = RefusedVersion.class.getName();
    return new ExpressionInfo(owner, null, name, "", "", "", "", "", "", "", "scala_udf");
  }

  /** The function {@code winops_version()}, with a sequence of either version of Scala. */
  static final class VersionOfJar<A> implements Function1<A, Expression> {
    @Override
    public Expression apply(A arguments) {
      return new Literal(UTF8String.fromString(SparkVersion.winops()), DataTypes.StringType);
    }
  }
}
