package winops.peers.flink

import java.lang.{Boolean => JBoolean, Long => JLong}

import scala.annotation.nowarn

import org.apache.flink.api.common.typeinfo.Types
import org.apache.flink.configuration._
import org.apache.flink.streaming.api.datastream.{DataStream, KeyedStream, SingleOutputStreamOperator}
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment

import winops.peers.process.{Lines, Options}

/** Runs a Flink with two slots in this process. */
object Main {
  def main(args: Array[String]): Unit = {
    val options = new Options(args)
    val environment = StreamExecutionEnvironment
      .createLocalEnvironment(Handover.Parts, configuration(options))
    // Only the sources' and the answers' rows are changed after they are passed on.
    environment.getConfig.enableObjectReuse()
    environment.setBufferTimeout(FlushMillis)

    answers(environment, options).returns(Answer.info).sinkTo(new Counter)
    environment.executeAsync().getJobExecutionResult.whenComplete { (_, failure) =>
      Handover.fail(if (failure == null) new IllegalStateException("the job ended") else failure)
    }

    Lines.serve(Handover.Parts)(Handover.take)
  }

  @nowarn("cat=deprecation")
  private def source(environment: StreamExecutionEnvironment): DataStream[Trade] =
    environment.addSource(new Feed, "trades", Trade.info)

  /** The maximum delay of a micro-batch's last buffer; each flush has a cost. */
  private final val FlushMillis = 2L

  private def answers(
      environment: StreamExecutionEnvironment,
      options: Options): SingleOutputStreamOperator[Answer] = {
    val size = options.size
    val unkeyed = source(environment)
    lazy val trades: KeyedStream[Trade, JLong] =
      unkeyed.keyBy((trade: Trade) => JLong.valueOf(trade.key), Types.LONG)
    val isOnHeap = options("state") == "heap"
    val layout = if (isOnHeap) Held.inQueue else Held.inMap
    (options("windows"), options.job) match {
      case ("function", "rows") if isOnHeap => trades.process(new LastRows(size))
      case ("function", "rows") => trades.process(new LastRowsInPlaces(size))
      case ("function", "time") => trades.process(new LastMillis(size, layout))
      case ("function", "aggregates") => trades.process(new LastRowsAveraged(size))
      case ("evictor", "rows") => Windows.rows(trades, size)
      case ("evictor", "time") => Windows.time(trades, size)
      case ("evictor", "aggregates") => Windows.aggregates(trades, size)
      case ("sql", "over") => SqlOver.lastRows(environment, unkeyed, size)
      case other => throw new IllegalArgumentException(s"no program for $other")
    }
  }

  private def configuration(options: Options): Configuration = {
    val configuration = new Configuration
    configuration.set(
      StateBackendOptions.STATE_BACKEND,
      if (options("state") == "heap") "hashmap" else "rocksdb")
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(1024))
    val checkpointMillis = options("checkpoint").toLong
    if (checkpointMillis > 0) {
      configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL,
        java.time.Duration.ofMillis(checkpointMillis))
      configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, JBoolean.TRUE)
      configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem")
      configuration.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        Checkpoints.folder().toUri.toString)
    }
    configuration
  }
}
