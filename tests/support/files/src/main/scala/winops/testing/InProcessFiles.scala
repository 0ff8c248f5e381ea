package winops.testing

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.fs.{Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission

/** Local files whose permissions are set in this process. Without its native library, Hadoop
  * starts `chmod` for each file that it creates, which takes a quarter of the time of a small
  * micro-batch.
  */
final class InProcessFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = {
    val actions =
      Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction)
    val permissions = PosixFilePermissions.fromString(actions.map(_.SYMBOL).mkString)
    val _ = Files.setPosixFilePermissions(pathToFile(path).toPath, permissions)
  }
}
