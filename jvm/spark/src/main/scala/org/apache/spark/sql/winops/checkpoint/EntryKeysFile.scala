package org.apache.spark.sql.winops.checkpoint

import java.io.{EOFException, FileNotFoundException, IOException, UTFDataFormatException}

import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.fs.FSDataInputStream
import org.json4s.jackson.JsonMethods.parse

import org.apache.spark.sql.types.StructType

import winops.spark.restart.StoredTypes
import winops.spark.state.StateErrors

/** Reads the file in which Spark describes the state entries of a `keep` operator. Spark's own
  * reader would instantiate every class that the file names.
  */
private[winops] object EntryKeysFile {

  /** Returns the columns of the entries' keys.
    *
    * @param file
    *   opens the file, which is closed afterwards
    * @throws org.apache.spark.sql.winops.internal.WinopsRuntimeException
    *   `WINOPS_STATE_FORMAT` if the file has another format
    */
  def read(file: => FSDataInputStream): StructType =
    try Using.resource(file)(columns).filter(_.length >= HashAndSegment).get
    catch {
      case disk: IOException if !isOfContent(disk) => throw disk
      case NonFatal(_) =>
        throw StateErrors.failure("the description of its entries is not as Spark writes it")
    }

  private def columns(in: FSDataInputStream): Option[StructType] =
    if (in.readUTF() != Version || in.readInt() != Families) None
    else {
      in.readUTF()
      in.readShort()
      val text = new StringBuilder
      (0 until in.readInt()).foreach(_ => text.append(in.readUTF()))
      StoredTypes.columns(parse(text.result()))
    }

  private def isOfContent(error: IOException): Boolean = error match {
    case _: EOFException | _: UTFDataFormatException | _: FileNotFoundException => true
    case _ => false
  }

  private val Version = "v3"
  private val Families = 1
  private val HashAndSegment = 2
}
