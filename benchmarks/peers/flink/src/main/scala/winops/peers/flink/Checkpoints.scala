package winops.peers.flink

import java.nio.file.{Files, Path}

import org.apache.flink.util.FileUtils

/** Where checkpoints are written. */
object Checkpoints {

  /** A new folder, which is gone when the process ends. */
  def folder(): Path = {
    val folder = Files.createTempDirectory("flink-checkpoints")
    sys.addShutdownHook(FileUtils.deleteDirectoryQuietly(folder.toFile))
    folder
  }
}
