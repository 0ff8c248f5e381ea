package winops.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** The settings of all benchmarks: the average time of an operation in nanoseconds, on one
  * thread, in a forked JVM. Options on JMH's command line override them.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
abstract class AverageNanos
