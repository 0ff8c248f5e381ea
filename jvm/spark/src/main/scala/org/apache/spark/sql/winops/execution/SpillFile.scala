package org.apache.spark.sql.winops.execution

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, File}

import scala.util.Using

import org.apache.spark.{SparkEnv, TaskContext}

/** Temporary files of a task. */
object SpillFile {

  /** Returns a new file among the executor's local files, which Spark deletes when the executor
    * ends; outside of an executor, in the folder of the system.
    */
  def create(): File = Option(SparkEnv.get) match {
    case Some(env) => env.blockManager.diskBlockManager.createTempLocalBlock()._2
    case None => File.createTempFile("keep", ".rows")
  }

  /** Returns true if Spark encrypts the temporary files of tasks. */
  def isEncrypted: Boolean = Option(SparkEnv.get).exists(_.serializerManager.encryptionEnabled)

  /** Encrypts bytes with the key of the application. */
  def encrypted(bytes: Array[Byte]): Array[Byte] = {
    val out = new ByteArrayOutputStream(bytes.length + 64)
    Using.resource(SparkEnv.get.serializerManager.wrapForEncryption(out))(_.write(bytes))
    out.toByteArray
  }

  /** Decrypts what [[encrypted]] returned. */
  def decrypted(bytes: Array[Byte]): Array[Byte] =
    Using.resource(
      SparkEnv.get.serializerManager.wrapForEncryption(new ByteArrayInputStream(bytes)))(
      _.readAllBytes())

  /** Adds to the task's metrics the bytes that were moved from the heap. */
  def countMoved(bytes: Long): Unit =
    Option(TaskContext.get()).foreach(_.taskMetrics().incMemoryBytesSpilled(bytes))

  /** Adds to the task's metrics the bytes that were written to a file. */
  def countWritten(bytes: Long): Unit =
    Option(TaskContext.get()).foreach(_.taskMetrics().incDiskBytesSpilled(bytes))
}
