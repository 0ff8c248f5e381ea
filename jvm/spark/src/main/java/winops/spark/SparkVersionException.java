package winops.spark;

import java.util.Map;
import org.apache.spark.SparkThrowable;

/**
 * The error for a Spark version that the JAR does not support.
 *
 * <p>It is not one of Spark's own exceptions, because their constructors differ between versions.
 */
public final class SparkVersionException extends UnsupportedOperationException
    implements SparkThrowable {
  private static final long serialVersionUID = 1L;

  private final String condition;
  private final String state;
  private final transient Map<String, String> parameters;

  SparkVersionException(
      String condition, String state, Map<String, String> parameters, String message) {
    super(message);
    this.condition = condition;
    this.state = state;
    this.parameters = parameters;
  }

  // The former name of the next method, the only one that Spark 3 knows.
  @Deprecated
  @Override
  public String getErrorClass() {
    return condition;
  }

  @Override
  public String getCondition() {
    return condition;
  }

  @Override
  public String getSqlState() {
    return state;
  }

  @Override
  public Map<String, String> getMessageParameters() {
    return parameters;
  }
}
