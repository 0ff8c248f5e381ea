package winops.spark.testing

import scala.collection.mutable

/** The types of winops whose methods are called, in the order of their first calls. Classes that
  * [[RecordedClasses]] has loaded report here.
  */
object CalledTypes {
  private val called = mutable.LinkedHashSet.empty[String]
  private var isRecording = false

  /** The types that `run` calls. */
  def during(run: Runnable): Array[String] = {
    called.clear()
    isRecording = true
    try run.run()
    finally isRecording = false
    called.toArray
  }

  /** Called at the begin of each method. */
  def enter(outermost: String): Unit = if (isRecording) called += outermost
}
