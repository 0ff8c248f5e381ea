package winops.spark.harness

import java.io.StringWriter

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.json.{JacksonGenerator, JSONOptions}
import org.apache.spark.sql.types.{DayTimeIntervalType, LongType, StructType}
import org.apache.spark.sql.winops.internal.Catalyst

/** Writes rows as JSON objects with all columns of a schema. Timestamps have microseconds;
  * intervals of days are numbers of microseconds.
  */
private[harness] final class JsonRows(schema: StructType) {
  // An interval of days is stored as a number.
  private val written = Catalyst.transform(schema) { case _: DayTimeIntervalType => LongType }

  /** The JSON object of a row. */
  def text(row: InternalRow): String = {
    val writer = new StringWriter
    val generator = new JacksonGenerator(written, writer, JsonRows.options)
    generator.write(row)
    generator.flush()
    writer.toString
  }
}

private object JsonRows {
  private val options = new JSONOptions(
    Map(
      "ignoreNullFields" -> "false",
      "timestampFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx",
      "timestampNTZFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"),
    "UTC",
    "")
}
