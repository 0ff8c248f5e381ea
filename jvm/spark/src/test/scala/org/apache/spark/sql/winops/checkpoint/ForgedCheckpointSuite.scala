package org.apache.spark.sql.winops.checkpoint

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{LongType, StructType}

import winops.spark.state.StateGroupStore
import winops.spark.testing.{KeepStreamTest, SpiedType, Tick}

/** Checkpoints whose files name classes or are damaged: `winops_state` reads the valid parts and
  * instantiates none of the classes.
  */
class ForgedCheckpointSuite extends KeepStreamTest {
  import ForgedCheckpointSuite._

  private def held(folder: File) = spark.sql(s"SELECT * FROM winops_state('$folder')")

  private def checkpoint(check: File => Unit): Unit = withTempDir { dir =>
    val stream = ticks()
    stream.addData((0 until 10).map(i => Tick("a", 1, i)))
    runAll(keep(stream.toDF(), "PARTITION BY (k), 'KEEP 3 ROWS'"), dir.getPath)
    check(dir)
  }

  private def refusal(folder: File): Seq[String] = conditionsOf(
    intercept[Exception](held(folder)))

  test("the schema of a state's entries names a class") {
    checkpoint { folder =>
      val before = held(folder).collect().toSeq
      val user = new SpiedType
      val keys = new StructType().add("_hash", LongType).add("k", user).add("_segment", LongType)
      writeSchema(onlyFileIn(new File(folder, "state/0/_stateSchema")), keys)
      val made = SpiedType.madeBy(assert(held(folder).collect().toSeq == before))
      assert(made == 0)
    }
  }

  test("the schema of a state's entries is not one") {
    checkpoint { folder =>
      val schema = onlyFileIn(new File(folder, "state/0/_stateSchema"))
      val whole = Files.readAllBytes(schema.toPath)
      (Seq(0, 1, 3, 7, 12, 40).map(whole.take) :+ Array.fill[Byte](200)(-1) :+
        whole.updated(20, '}'.toByte)).foreach { bytes =>
        write(schema, bytes)
        assert(refusal(folder) == Seq("WINOPS_STATE_FORMAT"))
      }
      write(schema, whole)
      assert(held(folder).count() == 3)
    }
  }

  test("the settings of a query name classes of state stores") {
    checkpoint { folder =>
      val offsets = new File(folder, "offsets/0")
      val whole = Files.readString(offsets.toPath)
      val spied = classOf[SpiedType].getName
      Seq(classOf[HDFSBackedStateStoreProvider].getName, "lz4").foreach { named =>
        val forged = whole.replace(s""""$named"""", s""""$spied"""")
        assert(forged != whole)
        write(offsets, forged.getBytes(UTF_8))
        val made =
          SpiedType.madeBy(assert(refusal(folder) == Seq("WINOPS_CHECKPOINT_CLASS")))
        assert(made == 0)
      }
      write(offsets, whole.getBytes(UTF_8))
      assert(held(folder).count() == 3)
    }
  }

  test("what keep it belongs to is damaged") {
    checkpoint { folder =>
      val metadata = onlyFileIn(new File(folder, "state/0/_metadata"))
      val whole = Files.readString(metadata.toPath)
      Seq("""\"columns\"""" -> """\"rows\"""", """\"integer\"""" -> """\"no type\"""").foreach {
        case (before, after) =>
          assert(whole.contains(before))
          write(metadata, whole.replace(before, after).getBytes(UTF_8))
          assert(refusal(folder) == Seq("WINOPS_STATE_FORMAT"))
      }
    }
  }
}

private object ForgedCheckpointSuite {
  private val files = FileSystem.getLocal(new Configuration)

  /** The only file below a folder, except for checksums. */
  def onlyFileIn(folder: File): File = FileUtils
    .listFiles(folder, null, true)
    .asScala
    .filterNot(_.getName.endsWith(".crc"))
    .toSeq match {
    case Seq(file) => file
    case several => throw new IllegalStateException(s"${several.size} files in $folder")
  }

  /** Writes a file with a valid checksum, as an attacker would. */
  def write(file: File, bytes: Array[Byte]): Unit = {
    val out = files.create(new Path(file.getPath), true)
    try out.write(bytes)
    finally out.close()
  }

  def writeSchema(file: File, keys: StructType): Unit = {
    val entries = StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      0,
      keys,
      0,
      StateGroupStore.valueSchema,
      Some(NoPrefixKeyStateEncoderSpec(keys)))
    val out = files.create(new Path(file.getPath), true)
    try SchemaHelper.SchemaWriter.createSchemaWriter(3).write(List(entries), out)
    finally out.close()
  }
}
