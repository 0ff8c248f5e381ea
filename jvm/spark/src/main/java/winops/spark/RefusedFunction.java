package winops.spark;

import scala.Function1;

/**
 * Replaces a table function on a Spark version that the JAR does not support: every call fails.
 *
 * @param <A> its arguments, a sequence of a type that depends on the version of Scala
 * @param <B> what it would return
 */
public final class RefusedFunction<A, B> implements Function1<A, B> {
  private final SparkVersionException error;

  public RefusedFunction(SparkVersionException error) {
    this.error = error;
  }

  @Override
  public B apply(A arguments) {
    throw error;
  }
}
