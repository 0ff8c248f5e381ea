package winops.spark.expressions

import java.io.{NotSerializableException, ObjectOutputStream, ObjectStreamClass, OutputStream}
import java.lang.invoke.SerializedLambda
import java.nio.charset.StandardCharsets
import java.security.{DigestOutputStream, MessageDigest}

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoder, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.ExprId

/** Identifies objects such as the function of a UDF by their class and their serialized form,
  * which is the same in each JVM.
  */
private[expressions] object ObjectIdentity {
  private val DigestBytes = 8

  /** Returns the class of an object, and a digest of what it holds. An object that is not
    * serializable holds nothing that a query could have given to it.
    */
  def of(value: AnyRef): String =
    try s"${nameOf(value)} ${serialized(value)}"
    catch { case _: NotSerializableException => value.getClass.getName }

  /** Returns a digest of texts, as a hexadecimal number. */
  def digest(texts: Seq[String]): String = {
    val sha = MessageDigest.getInstance("SHA-256")
    texts.foreach { text =>
      sha.update(text.getBytes(StandardCharsets.UTF_8))
      sha.update(0.toByte)
    }
    hex(sha)
  }

  // The name of a lambda's class has a number of this JVM.
  private def nameOf(value: AnyRef): String =
    if (value.getClass.isHidden || value.getClass.isSynthetic) "lambda"
    else value.getClass.getName

  private def serialized(value: AnyRef): String = {
    val sha = MessageDigest.getInstance("SHA-256")
    val out = new Stable(new DigestOutputStream(OutputStream.nullOutputStream(), sha))
    out.writeObject(value)
    out.flush()
    hex(sha)
  }

  private def hex(sha: MessageDigest): String =
    sha.digest().take(DigestBytes).map(byte => f"$byte%02x").mkString

  /** Writes objects without what differs between JVMs, builds of a class or versions of Spark. */
  private final class Stable(out: OutputStream) extends ObjectOutputStream(out) {
    enableReplaceObject(true)

    /** Writes the names of a class and of its fields. The whole form also has a number that
      * changes with private methods of the class, and with the compiler.
      */
    override protected def writeClassDescriptor(written: ObjectStreamClass): Unit = {
      writeUTF(written.getName)
      written.getFields.foreach(field => writeUTF(s"${field.getTypeCode}${field.getName}"))
    }

    override protected def replaceObject(value: AnyRef): AnyRef = value match {
      case encoder: ExpressionEncoder[_] => encoder.schema.json
      case encoder: AgnosticEncoder[_] => encoder.schema.json
      // A broadcast has a number, and often newer values after a restart.
      case _: Broadcast[_] => "broadcast"
      case _: ExprId => "id"
      case lambda: SerializedLambda =>
        val captured = Array.tabulate(lambda.getCapturedArgCount)(lambda.getCapturedArg)
        // Spark wraps the functions of Java in lambdas whose names differ between versions.
        val names =
          if (lambda.getCapturingClass.startsWith("org/apache/spark/")) Seq("spark")
          else
            Seq(lambda.getCapturingClass, lambda.getImplMethodName, lambda.getImplMethodSignature)
        names.toArray[AnyRef] ++ captured
      case other => other
    }
  }
}
