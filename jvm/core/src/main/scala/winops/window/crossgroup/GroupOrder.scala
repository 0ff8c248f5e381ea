package winops.window.crossgroup

import winops.storage.btree.PagedMap
import winops.storage.bytes.{Bytes, CorruptStateException}

/** Groups in the order of a number, such as the time of their earliest timer. A group has one
  * place, whose bound is at most the group's number.
  *
  * A number that grows does not move its group; the group moves when it comes to the front and
  * its bound is less than its number. It then gets a bound that is the coarser the farther away
  * its number is. Groups that move at about the same time come to lie side by side, so that few
  * pages change, however many groups there are.
  *
  * @param map
  *   the groups by bound and tie
  */
private[crossgroup] final class GroupOrder(map: PagedMap) {
  import GroupOrder._

  /** Number of groups. */
  def size: Long = map.size

  /** The place of the first group, if there is one. */
  def first: Option[Rank] = Option.when(map.first()) {
    val key = map.key
    if (key.length != KeyLength) {
      throw new CorruptStateException(s"a place of ${key.length} bytes among groups")
    }
    Rank(numberIn(key, 0), numberIn(key, java.lang.Long.BYTES))
  }

  /** The group at the place that [[first]] has returned. */
  def firstGroup: Array[Byte] = map.value

  /** Adds a group and returns its place. A place behind all others has the exact number.
    *
    * @param number
    *   the group's number
    * @param created
    *   decides between groups of equal numbers
    * @param from
    *   the number from which the distance counts
    * @param tie
    *   decides between groups of equal coarse bounds
    */
  def add(group: Array[Byte], number: Long, created: Long, from: Long, tie: Long): Rank = {
    val exact = Rank(number, created)
    val grain = grainOf(number, from)
    val place =
      if (grain <= 1 || isLast(exact)) exact
      else {
        val bound = number - Math.floorMod(number, grain)
        if (bound == number) exact else Rank(bound, Long.MinValue + tie)
      }
    if (map.put(keyOf(place), group) != null) {
      throw new CorruptStateException("two groups have one place")
    }
    place
  }

  def remove(place: Rank): Unit =
    if (!map.remove(keyOf(place))) throw new CorruptStateException("a group is not at its place")

  private def isLast(place: Rank): Boolean = !map.last() || map.isBefore(keyOf(place))

  private def grainOf(number: Long, from: Long): Long = {
    val distance = number - from
    // The distance to a number far below zero overflows.
    if (from > number || distance < 0) 1L
    else java.lang.Long.highestOneBit(distance) / Grains
  }

  private def keyOf(place: Rank): Array[Byte] = {
    val key = new Array[Byte](KeyLength)
    putNumber(key, 0, place.bound)
    putNumber(key, java.lang.Long.BYTES, place.tie)
    key
  }
}

private[crossgroup] object GroupOrder {

  /** The place of a group.
    *
    * @param bound
    *   the group's number, or a lower bound of it
    * @param tie
    *   decides between equal bounds: a negative number if the bound is coarse, and the number of
    *   the group's creation otherwise
    */
  final case class Rank(bound: Long, tie: Long) {
    def isExact: Boolean = tie >= 0
  }

  private val KeyLength = 2 * java.lang.Long.BYTES

  /** The number of coarse bounds within a distance, and within twice the distance. */
  private val Grains = 16L

  /** Writes a number so that the order of the bytes is that of the numbers. */
  def putNumber(key: Array[Byte], at: Int, number: Long): Unit =
    Bytes.putLong(key, at, java.lang.Long.reverseBytes(number ^ Long.MinValue))

  def numberIn(key: Array[Byte], at: Int): Long =
    java.lang.Long.reverseBytes(Bytes.getLong(key, at)) ^ Long.MinValue
}
