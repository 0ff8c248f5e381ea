package org.apache.spark.sql.winops.checkpoint

import java.util.Locale

import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, RocksDBStateStoreProvider}
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

/** Checks the settings of a checkpoint with class names. Spark instantiates these classes when it
  * opens a state store.
  */
private[winops] object NamedClasses {

  /** Refuses class names from the checkpoint that are not trusted.
    *
    * @param session
    *   the session's settings, which are trusted
    * @param checkpoint
    *   the settings overridden by those of the checkpoint
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_CHECKPOINT_CLASS` if the checkpoint names a class that is neither Spark's own nor
    *   the session's
    */
  def check(session: SQLConf, checkpoint: SQLConf): Unit = {
    val name = checkpoint.stateStoreProviderClass
    if (!Providers.contains(name) && name != session.stateStoreProviderClass) {
      throw refused(SQLConf.STATE_STORE_PROVIDER_CLASS.key)
    }
    val codec = checkpoint.stateStoreCompressionCodec
    if (!Codecs.contains(codec.toLowerCase(Locale.ROOT)) &&
      codec != session.stateStoreCompressionCodec) {
      throw refused(SQLConf.STATE_STORE_COMPRESSION_CODEC.key)
    }
  }

  private val Providers: Set[String] =
    Set(classOf[HDFSBackedStateStoreProvider], classOf[RocksDBStateStoreProvider]).map(_.getName)

  private val Codecs: Set[String] = {
    import CompressionCodec._
    Set(LZ4, LZF, SNAPPY, ZSTD)
  }

  private def refused(setting: String): Throwable =
    WinopsErrors.analysis("WINOPS_CHECKPOINT_CLASS", "setting" -> setting)
}
