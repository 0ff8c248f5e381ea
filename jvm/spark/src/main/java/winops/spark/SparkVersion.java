package winops.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.package$;

/**
 * The winops version of this JAR and the Spark version that it was built for.
 *
 * <p>Spark's internals change with each minor version, so each needs its own JAR. What tells that a
 * JAR is the wrong one is loaded on every Spark, that of Scala 2.12 and Java 8 too. It is therefore
 * written in Java, and uses only what has never changed in Spark and in Scala's library.
 */
public final class SparkVersion {
  private static final String CONDITION = "WINOPS_SPARK_VERSION";

  private SparkVersion() {}

  /** Returns the version of winops. */
  public static String winops() {
    return build().getProperty("version");
  }

  /** Returns the error for the running Spark, or null if this JAR is for it. */
  public static SparkVersionException mismatch() {
    return mismatch(package$.MODULE$.SPARK_VERSION());
  }

  /** Returns the error for a version of Spark, or null if this JAR is for it. */
  public static SparkVersionException mismatch(String running) {
    Properties build = build();
    String expected = build.getProperty("spark.minor");
    if (running.startsWith(expected + ".")) {
      return null;
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("winops", winops());
    parameters.put("expected", expected);
    parameters.put("running", running);
    parameters.put("supported", build.getProperty("spark.supported"));
    JsonNode condition = condition();
    String message = condition.get("message").get(0).asText();
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      message = message.replace("<" + parameter.getKey() + ">", parameter.getValue());
    }
    String state = condition.get("sqlState").asText();
    return new SparkVersionException(
        CONDITION,
        state,
        parameters,
        "[" + CONDITION + "] " + message + " SQLSTATE: " + state);
  }

  private static Properties build() {
    Properties properties = new Properties();
    try (InputStream stream = resource("winops/build.properties")) {
      properties.load(stream);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return properties;
  }

  private static JsonNode condition() {
    try (InputStream stream = resource("error/winops-error-conditions.json")) {
      return new ObjectMapper().readTree(stream).get(CONDITION);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static InputStream resource(String name) {
    return SparkVersion.class.getClassLoader().getResourceAsStream(name);
  }
}
