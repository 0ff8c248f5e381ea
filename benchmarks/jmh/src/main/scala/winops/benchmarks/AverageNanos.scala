package winops.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** What all benchmarks measure: the average time of an operation in nanoseconds, on one thread,
  * in a JVM of its own. Options of JMH on the command line go before what is said here.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
abstract class AverageNanos
