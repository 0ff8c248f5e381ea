package winops.peers.flink

import java.nio.file.{Files, Path}

import org.apache.flink.util.FileUtils

/** The folder of the checkpoints. */
object Checkpoints {

  /** Creates a new folder, which is deleted when the process ends. */
  def folder(): Path = {
    val folder = Files.createTempDirectory("flink-checkpoints")
    sys.addShutdownHook(FileUtils.deleteDirectoryQuietly(folder.toFile))
    folder
  }
}
