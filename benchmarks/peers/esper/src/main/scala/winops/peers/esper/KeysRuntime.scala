package winops.peers.esper

import java.util.concurrent.TimeUnit

import com.espertech.esper.common.client.configuration.Configuration
import com.espertech.esper.compiler.client.{CompilerArguments, EPCompilerProvider}
import com.espertech.esper.runtime.client.{EPRuntime, EPRuntimeProvider, UpdateListener}

import winops.peers.process.{Block, Counts, MicroBatch}

/** A runtime for a part of the keys, used by one thread at a time. */
final class KeysRuntime(part: Int, parts: Int, statement: String) {
  private var inserted, deleted = 0L
  private var now = Long.MinValue

  private val counter: UpdateListener = (entering, leaving, _, _) => {
    if (entering != null) inserted += entering.length
    if (leaving != null) deleted += leaving.length
  }
  private val events = KeysRuntime.deployed(s"part-$part", statement, counter).getEventService
  private val sender = events.getEventSender("Trade")

  /** Sends the rows of this part of a micro-batch to the runtime. */
  def take(batch: MicroBatch): Counts = {
    inserted = 0
    deleted = 0
    batch.foreachBlock { block =>
      var row = 0
      while (row < block.rows) {
        if (Block.partOf(block.keys(row), parts) == part) send(block, row)
        row += 1
      }
    }
    // Rows of silent keys expire too, including keys without a row in this batch.
    advance(batch.newestMillis * 1000)
    Counts(inserted, deleted)
  }

  private def send(block: Block, row: Int): Unit = {
    import block._
    advance(micros(row))
    sender.sendEvent(new Trade(keys(row), seqs(row), prices(row), qtys(row), micros(row)))
  }

  private def advance(micros: Long): Unit =
    if (micros > now) {
      now = micros
      events.advanceTime(micros)
    }
}

private object KeysRuntime {

  /** Deploys a statement over trades in a runtime of its own.
    *
    * @param listener
    *   gets the rows that enter and leave
    */
  def deployed(name: String, statement: String, listener: UpdateListener): EPRuntime = {
    val compiled =
      EPCompilerProvider.getCompiler.compile(statement, new CompilerArguments(configuration))
    val runtime = EPRuntimeProvider.getRuntime(name, configuration)
    runtime.getDeploymentService.deploy(compiled).getStatements.last.addListener(listener)
    runtime
  }

  private def configuration: Configuration = {
    val configuration = new Configuration
    configuration.getCommon.addEventType("Trade", classOf[Trade])
    configuration.getCommon.getTimeSource.setTimeUnit(TimeUnit.MICROSECONDS)
    val runtime = configuration.getRuntime
    // Time is the time of the rows, and there is one thread.
    runtime.getThreading.setInternalTimerEnabled(false)
    runtime.getThreading.setListenerDispatchPreserveOrder(false)
    runtime.getThreading.setInsertIntoDispatchPreserveOrder(false)
    runtime.getExecution.setDisableLocking(true)
    configuration
  }
}
