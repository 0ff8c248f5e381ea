package winops.window.crossgroup

import winops.policy.Reclaim
import winops.storage.btree.{PagedMap, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.window.time.Clock

/** The groups of a cross-group policy, ordered by their last arrival and by their earliest timer.
  *
  * Each group has a record of its own, and the orders are maps in pages. A micro-batch reads and
  * writes the records of its groups and a few pages, and does not depend on the number of groups.
  *
  * @param reclaim
  *   the rule that removes groups because of other groups, if there is one
  * @param ordersByCreation
  *   true if [[inOrderOfCreation]] is needed
  * @param pages
  *   the storage of the orders
  * @param records
  *   the storage of the groups' records
  * @param keys
  *   turns groups into bytes
  */
final class CrossGroupIndex[G](
    reclaim: Option[Reclaim],
    ordersByCreation: Boolean,
    pages: Pages,
    records: GroupRecords,
    keys: GroupKeys[G]) {
  import GroupOrder.Rank

  private val ordersByArrival = reclaim.exists(_.isCrossGroup)
  private val arrivalMap = pages.newMap()
  private val dueMap = pages.newMap()
  private val creationMap = pages.newMap()
  private val arrivals = new GroupOrder(arrivalMap)
  private val dues = new GroupOrder(dueMap)

  private var groups = 0L
  private var rows = 0L
  private var created = 0L
  private var arrived = 0L
  private var moved = 0L
  private var lastSweep = Option.empty[Long]

  // The record that was used last.
  private var key: Array[Byte] = _
  private var record: GroupRecord = _
  private var isChanged = false
  private val writer = new ByteWriter

  /** True if a refused row counts as an arrival for a group that has state. */
  val countsRefusedRows: Boolean = reclaim.exists(_.isInstanceOf[Reclaim.SweptAtArrival])

  /** Number of groups. */
  def size: Long = groups

  /** Number of rows that all groups hold. */
  def held: Long = rows

  /** Number of rows that a group holds. */
  def heldBy(group: G): Long = if (find(group)) record.rows else 0L

  /** The earliest timer of a group; [[Clock.Never]] if there is none. */
  def dueOf(group: G): Long = if (find(group)) record.due else Clock.Never

  /** The earliest timer of all groups; [[Clock.Never]] if there is none. */
  def nextDue: Long = firstDueWithin(Clock.Never).fold(Clock.Never)(_.bound)

  /** Returns true if a group has a timer at `instant` or earlier. [[firstDue]] is then the group
    * with the earliest timer; of several, the group created first.
    */
  def isDueAt(instant: Long): Boolean = firstDueWithin(instant).isDefined

  def firstDue: G = keys.groupOf(dues.firstGroup)

  /** All groups in order of creation. Groups may be removed while they are visited. */
  def inOrderOfCreation: Iterator[G] = new Iterator[G] {
    private var last: Array[Byte] = _

    override def hasNext: Boolean =
      if (last == null) creationMap.first() else creationMap.above(last)

    override def next(): G = {
      if (!hasNext) throw new NoSuchElementException
      last = creationMap.key
      keys.groupOf(creationMap.value)
    }
  }

  /** Returns true if a sweep is due when a row arrives at `at`. Notes the sweep, so that the next
    * one is at least the policy's interval later.
    */
  def startsSweep(at: Long): Boolean = reclaim match {
    case Some(Reclaim.SweptAtArrival(_, every)) if lastSweep.forall(at >= _ + every) =>
      lastSweep = Some(at)
      true
    case _ => false
  }

  /** Returns true if a sweep at `at` removes the group with the least recent arrival. */
  def oldestIsSilent(at: Long): Boolean = reclaim match {
    case Some(Reclaim.SweptAtArrival(millis, _)) =>
      findOldest() && at - record.lastArrival > millis
    case _ => false
  }

  /** Notes that a row arrived in the group at `at`, after which the group holds `held` rows and
    * has its earliest timer at `due`. Adds the group if it is new.
    */
  def arrived(group: G, at: Long, held: Long, due: Long): Unit = {
    if (!find(group)) create()
    record.lastArrival = at
    record.arrival = arrived
    arrived += 1
    if (ordersByArrival && record.arrivalPlace.isEmpty) {
      record.arrivalPlace = Some(place(arrivals, record.arrival, from = record.arrival))
    }
    set(held, due, at)
  }

  /** Notes that the group holds `held` rows and has its earliest timer at `due`, though no row
    * arrived. Has no effect on an unknown group.
    */
  def changed(group: G, at: Long, held: Long, due: Long): Unit =
    if (find(group)) set(held, due, at)

  /** Removes the group from the index. */
  def removed(group: G): Unit = if (find(group)) {
    groups -= 1
    rows -= record.rows
    record.arrivalPlace.foreach(arrivals.remove)
    record.duePlace.foreach(dues.remove)
    if (ordersByCreation) creationMap.remove(creationKey(record.created))
    records.remove(key)
    forget()
  }

  /** Returns true if there are more groups or rows than the policy allows. */
  def isTooMuch: Boolean = reclaim match {
    case Some(Reclaim.MoreGroupsThan(limit)) => groups > limit
    case Some(Reclaim.MoreRowsThan(limit)) => rows > limit
    case _ => false
  }

  /** The group with the least recent arrival. */
  def oldest: G =
    if (findOldest()) keys.groupOf(key)
    else throw new CorruptStateException("a group is counted that is not there")

  /** Returns true if the group with the least recent arrival holds no rows; false if there is no
    * group.
    */
  def oldestIsEmpty: Boolean = findOldest() && record.rows == 0

  /** Writes the index. */
  def save(out: ByteWriter): Unit = {
    flush()
    out.byte(if (lastSweep.isEmpty) 0 else 1)
    out.number(lastSweep.getOrElse(0L))
    out.number(groups)
    out.number(rows)
    out.number(created)
    out.number(arrived)
    out.number(moved)
    pages.save(out)
    maps.foreach(_.save(out))
  }

  /** Reads what [[save]] has written. */
  def restore(in: ByteReader): Unit = {
    forget()
    val hasSwept = in.byte() == 1
    val swept = in.number()
    lastSweep = Option.when(hasSwept)(swept)
    groups = in.count(Long.MaxValue)
    rows = in.count(Long.MaxValue)
    created = in.count(Long.MaxValue)
    arrived = in.count(Long.MaxValue)
    moved = in.count(Long.MaxValue)
    pages.restore(in)
    maps.foreach(_.restore(in))
  }

  /** Number of places of groups in the orders. */
  private[crossgroup] def places: Long = maps.map(_.size).sum

  private def maps: Seq[PagedMap] = Seq(arrivalMap, dueMap, creationMap)

  /** Adds the group that was sought last. */
  private def create(): Unit = {
    record = new GroupRecord(created)
    groups += 1
    if (ordersByCreation) creationMap.put(creationKey(created), key)
    created += 1
  }

  private def set(held: Long, due: Long, at: Long): Unit = {
    rows += held - record.rows
    record.rows = held
    record.due = due
    // A later timer is noticed when the group comes to the front.
    if (due != Clock.Never && record.duePlace.forall(_.bound > due)) {
      record.duePlace.foreach(dues.remove)
      record.duePlace = Some(place(dues, due, from = at))
    }
    isChanged = true
  }

  private def place(order: GroupOrder, number: Long, from: Long): Rank = {
    val place = order.add(key, number, record.created, from, moved)
    if (!place.isExact) moved += 1
    place
  }

  /** The place of the group with the earliest timer, if that is at `instant` or earlier. */
  private def firstDueWithin(instant: Long): Option[Rank] = {
    var first = dues.first.filter(_.bound <= instant)
    while (first.exists(!isPlaceOf(dues.firstGroup, _, _.due, _.duePlace))) {
      val from = if (instant == Clock.Never) first.get.bound else instant
      dues.remove(first.get)
      record.duePlace = Option.when(record.due != Clock.Never)(place(dues, record.due, from))
      isChanged = true
      first = dues.first.filter(_.bound <= instant)
    }
    first
  }

  /** Finds the group with the least recent arrival; returns false if there is none. */
  private def findOldest(): Boolean = {
    var first = arrivals.first
    while (first.exists(!isPlaceOf(arrivals.firstGroup, _, _.arrival, _.arrivalPlace))) {
      arrivals.remove(first.get)
      record.arrivalPlace = Some(place(arrivals, record.arrival, from = first.get.bound))
      isChanged = true
      first = arrivals.first
    }
    first.isDefined
  }

  /** Opens the record of the first group of an order, and returns true if the group's number is
    * that of its place.
    */
  private def isPlaceOf(
      group: Array[Byte],
      place: Rank,
      numberOf: GroupRecord => Long,
      placeOf: GroupRecord => Option[Rank]): Boolean = {
    val isThere = find(group)
    if (!isThere || !placeOf(record).contains(place) || numberOf(record) < place.bound) {
      throw new CorruptStateException("a group is not at its place")
    }
    place.isExact && numberOf(record) == place.bound
  }

  private def find(group: G): Boolean = find(keys.bytesOf(group))

  private def find(group: Array[Byte]): Boolean = {
    if (key == null || !java.util.Arrays.equals(key, group)) {
      flush()
      key = group
      val stored = records.get(group)
      record = if (stored == null) null else GroupRecord.of(stored)
    }
    record != null
  }

  private def flush(): Unit = if (isChanged) {
    writer.clear()
    record.save(writer)
    records.put(key, writer.toArray)
    isChanged = false
  }

  private def forget(): Unit = {
    key = null
    record = null
    isChanged = false
  }

  private def creationKey(number: Long): Array[Byte] = {
    val key = new Array[Byte](java.lang.Long.BYTES)
    GroupOrder.putNumber(key, 0, number)
    key
  }
}
