package winops.peers.process

import java.lang.management.ManagementFactory
import java.nio.file.Path
import java.util.concurrent.{CompletableFuture, Executors}
import java.util.concurrent.atomic.AtomicLong

import scala.util.Using

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.ColumnReader
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.conf.PlainParquetConfiguration
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.io.LocalInputFile

/** Reads files of trades with threads that divide the row groups among them. */
final class TradesReader(threads: Int) {
  private val clock = ManagementFactory.getThreadMXBean
  private val cpuNanos = new AtomicLong
  private val pool = Executors.newFixedThreadPool(
    threads,
    task => {
      val thread = new Thread(task, "reader")
      thread.setDaemon(true)
      thread
    })

  /** Starts to read a file. */
  def read(path: Path): MicroBatch = {
    val groups = Using.resource(open(path))(_.getRowGroups.size)
    val blocks = IndexedSeq.fill(groups)(new CompletableFuture[Block])
    for (first <- 0 until threads.min(groups))
      pool.execute { () =>
        val begin = clock.getCurrentThreadCpuTime
        val mine = first until groups by threads
        try
          Using.resource(open(path)) { file =>
            mine.foreach(group => blocks(group).complete(decode(file, group)))
          }
        catch {
          case e: Throwable => mine.foreach(blocks(_).completeExceptionally(e))
        }
        cpuNanos.addAndGet(clock.getCurrentThreadCpuTime - begin)
      }
    new MicroBatch(blocks)
  }

  /** The CPU time of the threads since the last call, divided by their number. */
  def takeMillis(): Double = cpuNanos.getAndSet(0) / 1e6 / threads

  /** Options hold decompressors, which threads must not share. */
  private def open(path: Path) = ParquetFileReader.open(
    new LocalInputFile(path),
    ParquetReadOptions.builder(new PlainParquetConfiguration).build())

  private def decode(file: ParquetFileReader, group: Int): Block = {
    val pages = file.readRowGroup(group)
    val metadata = file.getFooter.getFileMetaData
    val schema = metadata.getSchema
    val columns = new ColumnReadStoreImpl(
      pages,
      new GroupRecordConverter(schema).getRootConverter,
      schema,
      metadata.getCreatedBy)
    def column(name: String) =
      columns.getColumnReader(schema.getColumnDescription(Array(name)))

    val block = new Block(pages.getRowCount.toInt)
    fill(column("key"), block.keys)
    fill(column("seq"), block.seqs)
    fill(column("price"), block.prices)
    fill(column("qty"), block.qtys)
    fill(column("ts"), block.micros)
    block
  }

  private def fill(from: ColumnReader, to: Array[Long]): Unit = {
    var row = 0
    while (row < to.length) {
      to(row) = from.getLong
      from.consume()
      row += 1
    }
  }

  private def fill(from: ColumnReader, to: Array[Double]): Unit = {
    var row = 0
    while (row < to.length) {
      to(row) = from.getDouble
      from.consume()
      row += 1
    }
  }
}
