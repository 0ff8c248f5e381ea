package winops.spark.expressions

import java.util.Arrays

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode.{CODEGEN_ONLY, NO_CODEGEN}
import org.apache.spark.sql.catalyst.plans.SQLHelper
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import winops.testing.TableTests

/** Values in a buffer do not change with the memory of the row that they were read from. */
class BufferProjectionSuite extends AnyFunSuite with SQLHelper with TableTests {
  private val lowercase = StringType("UTF8_LCASE")

  private val values = Seq[(DataType, Any)](
    StringType -> "a text",
    lowercase -> "a text",
    StringType("UNICODE_CI_RTRIM") -> "a text",
    BinaryType -> Array[Byte](1, 2, 3),
    DecimalType(38, 2) -> BigDecimal("123456789012345678901234.25"),
    ArrayType(lowercase) -> Seq("a", "text"),
    MapType(StringType, lowercase) -> Map("a" -> "text"),
    new StructType().add("s", lowercase).add("n", IntegerType) -> Row("a text", 1))

  for (mode <- Seq(CODEGEN_ONLY, NO_CODEGEN))
    testEach(s"a value stays in the buffer, with $mode")(values: _*) { case (dataType, value) =>
      withSQLConf(SQLConf.CODEGEN_FACTORY_MODE.key -> mode.toString) {
        val column = AttributeReference("value", dataType)()
        val toUnsafe = UnsafeProjection.create(Array(dataType))
        val catalyst = CatalystTypeConverters.createToCatalystConverter(dataType)(value)
        val read = toUnsafe(InternalRow(catalyst)).copy()
        val expected = read.copy()

        val buffer = new SpecificInternalRow(Seq(dataType))
        BufferProjection.create(Seq(column), Seq(column)).target(buffer)(read)
        Arrays.fill(read.getBaseObject.asInstanceOf[Array[Byte]], 'x'.toByte)
        assert(toUnsafe(buffer) == expected)
      }
    }
}
