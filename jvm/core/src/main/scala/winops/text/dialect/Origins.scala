package winops.text.dialect

import winops.policy.Origin

/** Origins of periodic triggers in the canonical text of a dialect that has no word for them: these
  * words are for people alone.
  */
object Origins {
  def words(origin: Origin): String = origin match {
    case Origin.FirstRow => "origin first row"
    case Origin.At(1L) => "origin 1 millisecond"
    case Origin.At(millis) => s"origin $millis milliseconds"
  }
}
