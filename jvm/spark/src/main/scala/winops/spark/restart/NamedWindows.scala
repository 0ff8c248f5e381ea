package winops.spark.restart

import scala.util.matching.Regex

/** The texts of windows with names in an identity. */
private[spark] object NamedWindows {
  private val Name = "(`(?:[^`]|``)*`|[A-Za-z_][A-Za-z_0-9]*)"

  /** The name of the first window, and the text behind it. */
  val First: Regex = s"(?s)$Name: (.*)".r

  /** The end of a window with another window behind it. */
  val Next: Regex = s", (?=$Name: )".r
}
