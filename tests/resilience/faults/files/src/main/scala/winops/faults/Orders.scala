package winops.faults

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, NoSuchFileException, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.matching.Regex

import org.apache.spark.TaskContext

/** Orders to fail or delay file operations, stored as files in a folder that all processes of an
  * application share.
  *
  * An order is a file `<name>.order` with one line of four tab-separated fields: the operation,
  * `before`, `during` or `after`, `fail` or `wait`, and a pattern that is found in the
  * operation's path. The first matching operation of any process or task takes the order and
  * leaves `<name>.taken`, which names the process and task.
  */
private[faults] final class Orders(folder: Path) {
  import Orders._

  /** Executes the order for this operation, if one exists.
    *
    * @throws IOException
    *   if the order is to fail
    */
  def obey(operation: String, moment: String, path: String): Unit =
    pending.find { case (_, order) => order.fits(operation, moment, path) }.foreach {
      case (file, order) => if (take(file, path)) order.act()
    }

  private def pending: Seq[(Path, Order)] = {
    val files =
      Using.resource(Files.newDirectoryStream(folder, "*.order"))(_.asScala.toVector)
    files.sorted.flatMap(file => read(file).map(file -> _))
  }

  private def read(file: Path): Option[Order] =
    try {
      Files.readString(file).trim.split('\t') match {
        case Array(operation, moment, action, pattern) =>
          Some(Order(operation, moment, action, pattern.r))
        case _ => throw new IllegalStateException(s"$file is no order")
      }
    } catch { case _: NoSuchFileException => None }

  /** Returns true if this process wins the rename; only one process can rename the file. */
  private def take(file: Path, path: String): Boolean = {
    val name = file.getFileName.toString.stripSuffix(".order")
    val said = folder.resolve(s"$name.said")
    try {
      Files.move(file, said, StandardCopyOption.ATOMIC_MOVE)
      Files.write(said, s"${ProcessHandle.current.pid}\t$who\t$path\n".getBytes(UTF_8))
      Files.move(said, folder.resolve(s"$name.taken"), StandardCopyOption.ATOMIC_MOVE)
      true
    } catch { case _: NoSuchFileException => false }
  }

  private def who: String = Option(TaskContext.get()) match {
    case Some(task) => s"partition ${task.partitionId()} attempt ${task.attemptNumber()}"
    case None => "driver"
  }
}

private[faults] object Orders {
  private val WaitMillis = 4000L

  final case class Order(operation: String, moment: String, action: String, pattern: Regex) {
    def fits(operation: String, moment: String, path: String): Boolean =
      this.operation == operation && this.moment == moment &&
        pattern.findFirstIn(path).isDefined

    def act(): Unit = action match {
      case "fail" => throw new IOException(s"ordered to fail: $operation")
      case "wait" => Thread.sleep(WaitMillis)
    }
  }
}
