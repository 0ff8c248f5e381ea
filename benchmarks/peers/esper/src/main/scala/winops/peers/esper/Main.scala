package winops.peers.esper

import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import winops.peers.process.{Counts, Lines, Options}

/** Runs Esper with the keys divided among as many runtimes as cores. */
object Main {
  private val Parts = 2

  def main(args: Array[String]): Unit = {
    val options = new Options(args)
    val statement = Statement.of(options("window"), options.job, options.size)
    val runtimes = (0 until Parts).map(new KeysRuntime(_, Parts, statement))
    val threads = Executors.newFixedThreadPool(Parts)
    Lines.serve(Parts) { batch =>
      val taking = runtimes.map(runtime => (() => runtime.take(batch)): Callable[Counts])
      threads.invokeAll(taking.asJava).asScala.map(_.get).reduce(_ + _)
    }
  }
}
