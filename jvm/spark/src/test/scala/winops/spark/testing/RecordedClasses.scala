package winops.spark.testing

import org.apache.xbean.asm9.{ClassReader, ClassVisitor, ClassWriter, MethodVisitor, Opcodes}

/** Loads the classes of winops once more, with a call of [[CalledTypes]] at the begin of each
  * method. Constructors do not report.
  */
final class RecordedClasses(parent: ClassLoader) extends ClassLoader(parent) {
  import RecordedClasses._

  override protected def loadClass(name: String, resolve: Boolean): Class[_] =
    getClassLoadingLock(name).synchronized {
      if (!isOfWinops(name)) super.loadClass(name, resolve)
      else Option(findLoadedClass(name)).getOrElse(define(name))
    }

  private def define(name: String): Class[_] = {
    val in = parent.getResourceAsStream(name.replace('.', '/') + ".class")
    if (in == null) throw new ClassNotFoundException(name)
    val bytes =
      try recording(name, in.readAllBytes())
      finally in.close()
    defineClass(name, bytes, 0, bytes.length)
  }
}

object RecordedClasses {
  private val Recorder = CalledTypes.getClass.getName.stripSuffix("$")
  private val Version = Opcodes.ASM9

  private def isOfWinops(name: String): Boolean =
    (name.startsWith("winops.") || name.startsWith("org.apache.spark.sql.winops.")) &&
      !name.startsWith(Recorder)

  private def recording(name: String, bytes: Array[Byte]): Array[Byte] = {
    val outermost = name.takeWhile(_ != '$')
    val reader = new ClassReader(bytes)
    val writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS)
    reader.accept(
      new ClassVisitor(Version, writer) {
        override def visitMethod(
            access: Int,
            method: String,
            descriptor: String,
            signature: String,
            exceptions: Array[String]): MethodVisitor = {
          val next = super.visitMethod(access, method, descriptor, signature, exceptions)
          if (method.startsWith("<")) next else new Entered(outermost, next)
        }
      },
      0)
    writer.toByteArray
  }

  private final class Entered(outermost: String, next: MethodVisitor)
      extends MethodVisitor(Version, next) {
    override def visitCode(): Unit = {
      super.visitCode()
      visitLdcInsn(outermost)
      visitMethodInsn(
        Opcodes.INVOKESTATIC,
        Recorder.replace('.', '/'),
        "enter",
        "(Ljava/lang/String;)V",
        false)
    }
  }
}
