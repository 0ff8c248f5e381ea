package winops.spark;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import scala.runtime.BoxedUnit;

/**
 * Registers winops in every session of an application that has its JAR. Spark finds this class
 * through {@code META-INF/services}. Applications that switch this off name the class in {@code
 * spark.sql.extensions}.
 */
public final class WinopsExtensions implements SparkSessionExtensionsProvider {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkVersionException mismatch = SparkVersion.mismatch();
    if (mismatch == null) {
      Registration.inject(extensions);
    } else {
      RefusedVersion.inject(extensions, mismatch);
    }
    return BoxedUnit.UNIT;
  }
}
