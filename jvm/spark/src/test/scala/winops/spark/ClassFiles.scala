package winops.spark

import java.io.{File, InputStream}
import java.nio.file.{Files, Path}
import java.util.zip.ZipFile

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.xbean.asm9.{ClassReader, ClassVisitor, FieldVisitor, MethodVisitor, Opcodes}

/** A class, or one of its fields or methods, that another class refers to. */
private[spark] final case class Reference(owner: String, member: Option[String]) {
  override def toString: String = (owner +: member.toSeq).mkString(".").replace('/', '.')
}

/** The contents of a class file, with internal names. */
private[spark] final class ClassFile(bytes: Array[Byte]) {
  private val reader = new ClassReader(bytes)

  val name: String = reader.getClassName

  /** The major version of the format, 52 for Java 8. */
  val version: Int = reader.readUnsignedShort(6)
  val parents: Seq[String] = Option(reader.getSuperName).toSeq ++ reader.getInterfaces

  /** Names and descriptors of the fields and methods that it declares. */
  lazy val members: Set[String] = {
    val found = Set.newBuilder[String]
    reader.accept(
      new ClassVisitor(Opcodes.ASM9) {
        override def visitField(
            access: Int,
            name: String,
            descriptor: String,
            signature: String,
            value: Any): FieldVisitor = {
          found += s"$name$descriptor"
          null
        }

        override def visitMethod(
            access: Int,
            name: String,
            descriptor: String,
            signature: String,
            exceptions: Array[String]): MethodVisitor = {
          found += s"$name$descriptor"
          null
        }
      },
      ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES)
    found.result()
  }

  /** The name of the file that it was compiled from. */
  lazy val source: Option[String] = {
    var found: Option[String] = None
    reader.accept(
      new ClassVisitor(Opcodes.ASM9) {
        override def visitSource(source: String, debug: String): Unit = found = Option(source)
      },
      ClassReader.SKIP_CODE | ClassReader.SKIP_FRAMES)
    found
  }

  /** The references in the constant pool, which are all that can be linked. */
  lazy val references: Seq[Reference] = {
    val buffer = new Array[Char](reader.getMaxStringLength)
    (1 until reader.getItemCount).map(reader.getItem).filter(_ > 0).flatMap { item =>
      reader.readByte(item - 1) match {
        case ClassFile.ClassTag => Some(Reference(reader.readUTF8(item, buffer), None))
        case ClassFile.FieldTag | ClassFile.MethodTag | ClassFile.InterfaceMethodTag =>
          val member = reader.getItem(reader.readUnsignedShort(item + 2))
          val text = reader.readUTF8(member, buffer) + reader.readUTF8(member + 2, buffer)
          Some(Reference(reader.readClass(item, buffer), Some(text)))
        case _ => None
      }
    }
  }
}

private[spark] object ClassFile {
  private val ClassTag = 7
  private val FieldTag = 9
  private val MethodTag = 10
  private val InterfaceMethodTag = 11

  /** The classes below a folder. */
  def below(folder: Path): Seq[ClassFile] = Using.resource(Files.walk(folder)) { paths =>
    paths.iterator.asScala
      .filter(_.toString.endsWith(".class"))
      .map(path => new ClassFile(Files.readAllBytes(path)))
      .toVector
  }
}

/** Links classes against JARs of Spark; all other references are resolved on the class path of
  * the tests.
  *
  * @param own
  *   the classes whose references are followed
  */
private[spark] final class Linking(own: Seq[ClassFile], jars: Seq[File]) extends AutoCloseable {
  private val zips = jars.map(new ZipFile(_))
  private val known = scala.collection.mutable.Map.empty[String, Option[ClassFile]]
  known ++= own.map(file => file.name -> Some(file))
  private val ownNames = own.map(_.name).toSet

  /** The unresolved references to classes of Spark and to inherited members. */
  def missing(of: Seq[ClassFile]): Seq[String] = {
    val wrong = for {
      file <- of
      reference <- file.references
      owner = elementOf(reference.owner)
      if isOfSpark(owner) || ownNames.contains(owner)
      if !reference.member.fold(find(owner).isDefined)(has(owner, _))
    } yield s"$reference in ${file.name.replace('/', '.')}"
    wrong.distinct.sorted
  }

  /** The number of references to classes of Spark. */
  def ofSpark(of: Seq[ClassFile]): Int =
    of.flatMap(_.references).count(reference => isOfSpark(elementOf(reference.owner)))

  override def close(): Unit = zips.foreach(_.close())

  private def isOfSpark(name: String): Boolean = name.startsWith("org/apache/spark/")

  /** The class `Foo` of an array `[[LFoo;`; an array's own methods are those of Object. */
  private def elementOf(name: String): String =
    if (name.startsWith("[")) name.dropWhile(_ == '[').stripPrefix("L").stripSuffix(";") else name

  private def has(owner: String, member: String): Boolean = find(owner).exists { file =>
    file.members.contains(member) || file.parents.exists(has(_, member))
  }

  private def find(name: String): Option[ClassFile] = known.getOrElseUpdate(
    name,
    if (isOfSpark(name)) zips.iterator.flatMap(inJar(_, name)).nextOption()
    else read(getClass.getClassLoader.getResourceAsStream(s"$name.class")))

  private def inJar(jar: ZipFile, name: String): Option[ClassFile] =
    Option(jar.getEntry(s"$name.class")).flatMap(entry => read(jar.getInputStream(entry)))

  private def read(stream: InputStream): Option[ClassFile] =
    Option(stream).map(Using.resource(_)(bytes => new ClassFile(bytes.readAllBytes())))
}
