package winops.text.dialect

import winops.terms.Origin

/** Formats the origin of a periodic trigger for the canonical text of a dialect that has no words
  * for it. Users read these words in EXPLAIN; no dialect parses them.
  */
object Origins {
  def words(origin: Origin): String = origin match {
    case Origin.FirstRow => "origin first row"
    case Origin.At(1L) => "origin 1 millisecond"
    case Origin.At(millis) => s"origin $millis milliseconds"
  }
}
