package winops.spark.testing

import scala.annotation.tailrec

/** A literal implementation of Esper's windows: it checks all rows at every row and at every
  * instant at which a timer could be due.
  */
object NaiveEsper {

  /** A row with its arrival time. */
  final case class Row(arrived: Arrived, at: Long) {
    def ts: Long = millis(arrived)
    def n: Long = arrived.n
    def text: String = arrived.text
  }

  def millis(arrived: Arrived): Long = Math.floorDiv(arrived.micros.get, 1000L)

  /** The inserted and deleted rows of a row or an instant, and the window after it. */
  final case class Turn(window: Window, entered: List[Row], left: List[Row])

  trait Window {

    /** All rows that the window holds. */
    def held: List[Row]
    def arrive(row: Row): Turn
    def due: Option[Long]
    def fire(now: Long): Turn

    /** The window after other windows have removed rows. */
    def without(gone: List[Row]): Window
  }

  /** The rules of a window that inserts rows one by one. Rows are given oldest first. */
  trait Rule {
    def refuses(held: List[Row], row: Row): Boolean = false

    /** The rows that the newest row evicts. */
    def evicts(held: List[Row]): List[Row] = Nil
    def due(held: List[Row]): Option[Long] = None
    def expires(held: List[Row], now: Long): List[Row] = Nil

    /** The rows that this window alone evicts because other windows have removed rows. */
    def abandons(held: List[Row]): List[Row] = Nil
  }

  final case class Sliding(rule: Rule, held: List[Row] = Nil) extends Window {
    override def arrive(row: Row): Turn =
      if (rule.refuses(held, row)) Turn(this, Nil, Nil)
      else {
        val all = held :+ row
        val left = rule.evicts(all)
        Turn(copy(held = all.diff(left)), List(row), left)
      }

    override def due: Option[Long] = rule.due(held)

    override def fire(now: Long): Turn = {
      val left = rule.expires(held, now)
      Turn(copy(held = held.diff(left)), Nil, left)
    }

    override def without(gone: List[Row]): Window = {
      val kept = held.diff(gone)
      if (kept == held) this else copy(held = kept.diff(rule.abandons(kept)))
    }
  }

  def keepall: Window = Sliding(new Rule {})

  def length(size: Int): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] = held.dropRight(size)
  })

  def time(period: Long): Window = Sliding(new Rule {
    override def due(held: List[Row]): Option[Long] = held.map(_.at + period).minOption
    override def expires(held: List[Row], now: Long): List[Row] =
      held.filter(_.at + period <= now)
  })

  def extTimed(period: Long): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] =
      held.takeWhile(_.ts <= held.last.ts - period)
  })

  def timeAccum(period: Long): Window = Sliding(new Rule {
    override def due(held: List[Row]): Option[Long] = held.lastOption.map(_.at + period)
    override def expires(held: List[Row], now: Long): List[Row] = held
  })

  def timeOrder(period: Long): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] =
      held.filter(row => row == held.last && row.ts <= row.at - period)
    override def due(held: List[Row]): Option[Long] = held.map(_.ts + period).minOption
    override def expires(held: List[Row], now: Long): List[Row] =
      held.filter(_.ts + period <= now).sortBy(_.ts)
  })

  def firstLength(size: Int): Window = Sliding(new Rule {
    override def refuses(held: List[Row], row: Row): Boolean = held.size >= size
  })

  def firstTime(period: Long): Window = Sliding(new Rule {
    override def refuses(held: List[Row], row: Row): Boolean =
      held.headOption.exists(_.at + period <= row.at)
  })

  def firstUnique(key: Row => Any): Window = Sliding(new Rule {
    override def refuses(held: List[Row], row: Row): Boolean = held.exists(key(_) == key(row))
  })

  def unique(key: Row => Any): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] = replaced(key, held)
  })

  def sort(size: Int, isBetter: (Row, Row) => Boolean): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] = beyond(size, isBetter, held)
  })

  def rank(key: Row => Any, size: Int, isBetter: (Row, Row) => Boolean): Window =
    Sliding(new Rule {
      override def evicts(held: List[Row]): List[Row] = {
        val earlier = replaced(key, held)
        earlier ++ beyond(size, isBetter, held.diff(earlier))
      }
    })

  /** A window that evicts its oldest rows until a condition holds for the others.
    *
    * @param holds
    *   returns true if the rows may stay, given the number of rows evicted in this evaluation
    */
  def expr(holds: (List[Row], Int) => Boolean): Window = Sliding(new Rule {
    override def evicts(held: List[Row]): List[Row] =
      held.take(held.tails.zipWithIndex.indexWhere { case (rest, expired) =>
        rest.isEmpty || holds(rest, expired)
      })
    override def abandons(held: List[Row]): List[Row] = evicts(held)
  })

  private def replaced(key: Row => Any, held: List[Row]): List[Row] =
    held.init.filter(key(_) == key(held.last))

  /** The worst row if the window is too large; among equally bad rows the oldest. */
  private def beyond(size: Int, isBetter: (Row, Row) => Boolean, held: List[Row]): List[Row] =
    if (held.size <= size) Nil
    else held.find(row => !held.exists(isBetter(row, _))).toList

  /** The rules of a window that inserts rows in batches. */
  trait BatchRule {

    /** The interval between batches, for batches by time. */
    def period: Option[Long] = None
    def isForced: Boolean = false
    def endsBefore(batch: Batching, row: Row): Boolean = false
    def endsWith(current: List[Row]): Boolean = false
    def starts(first: Row, now: Long): Option[Long] = None
  }

  /** A window that inserts its rows in batches.
    *
    * @param first
    *   the first row that ever arrived
    */
  final case class Batching(
      rule: BatchRule,
      first: Option[Row] = None,
      current: List[Row] = Nil,
      previous: List[Row] = Nil,
      due: Option[Long] = None)
      extends Window {
    override def held: List[Row] = previous ++ current

    override def arrive(row: Row): Turn = {
      val begun = copy(first = first.orElse(Some(row)))
      val grown = begun.copy(current = current :+ row)
      if (rule.endsBefore(begun, row)) begun.post(List(row), row.at)
      else if (rule.endsWith(grown.current)) grown.post(Nil, row.at)
      else {
        val timer = due.orElse(rule.starts(grown.first.get, row.at))
        Turn(grown.copy(due = timer), Nil, Nil)
      }
    }

    override def fire(now: Long): Turn =
      if (held.nonEmpty || rule.isForced) post(Nil, now)
      else Turn(copy(due = None), Nil, Nil)

    private def post(next: List[Row], now: Long): Turn = Turn(
      copy(current = next, previous = current, due = rule.period.map(now + _)),
      current,
      previous)

    override def without(gone: List[Row]): Window = copy(current = current.diff(gone))
  }

  def lengthBatch(size: Int): Window = Batching(new BatchRule {
    override def endsWith(current: List[Row]): Boolean = current.size == size
  })

  def timeBatch(every: Long, reference: Option[Long] = None, forced: Boolean = false): Window =
    Batching(new BatchRule {
      override def period: Option[Long] = Some(every)
      override def isForced: Boolean = forced
      override def starts(first: Row, now: Long): Option[Long] =
        Some(boundaryAfter(reference.getOrElse(first.at), every, now))
    })

  def extTimedBatch(every: Long): Window = Batching(new BatchRule {
    override def endsBefore(batch: Batching, row: Row): Boolean =
      batch.current.headOption.exists { oldest =>
        row.ts >= boundaryAfter(batch.first.get.ts, every, oldest.ts)
      }
  })

  def timeLengthBatch(every: Long, size: Int): Window = Batching(new BatchRule {
    override def period: Option[Long] = Some(every)
    override def endsWith(current: List[Row]): Boolean = current.size == size
    override def starts(first: Row, now: Long): Option[Long] = Some(now + every)
  })

  /** A batch window that ends at a condition.
    *
    * @param posts
    *   returns true if the batch ends with its last row
    */
  def exprBatch(posts: List[Row] => Boolean): Window = Batching(new BatchRule {
    override def endsWith(current: List[Row]): Boolean = posts(current)
  })

  private def boundaryAfter(reference: Long, period: Long, instant: Long): Long =
    reference + (Math.floorDiv(instant - reference, period) + 1) * period

  /** A window that deletes a row when the first of its windows removes the row. */
  final case class Intersection(windows: List[Window]) extends Window {
    override def held: List[Row] = windows.flatMap(_.held).distinct

    override def arrive(row: Row): Turn = {
      val turns = windows.map(_.arrive(row))
      val isTaken = turns.forall(_.entered.contains(row))
      val left = turns.flatMap(_.left).distinct
      val gone = if (isTaken) left else row :: left
      Turn(
        Intersection(turns.map(_.window.without(gone))),
        if (isTaken) List(row) else Nil,
        if (isTaken) left else left.filter(_ != row))
    }

    override def due: Option[Long] = windows.flatMap(_.due).minOption

    override def fire(now: Long): Turn = {
      val (after, left) = windows.indices.foldLeft((windows, List.empty[Row])) {
        case ((before, left), i) if isDue(before(i), now) =>
          val turn = before(i).fire(now)
          (before.updated(i, turn.window).map(_.without(turn.left)), left ++ turn.left)
        case (unchanged, _) => unchanged
      }
      Turn(Intersection(after), Nil, left)
    }

    override def without(gone: List[Row]): Window = Intersection(windows.map(_.without(gone)))
  }

  /** A batch window with other windows, which only remove rows from the batch and emit nothing.
    *
    * @param batch
    *   the index of the batch window
    */
  final case class BatchIntersection(windows: List[Window], batch: Int) extends Window {
    override def held: List[Row] = windows(batch).held

    override def arrive(row: Row): Turn = {
      val turns = windows.zipWithIndex.map { case (window, i) =>
        if (i == batch) Turn(window, List(row), Nil) else window.arrive(row)
      }
      val evicted = turns.flatMap(_.left)
      val isTaken = turns.forall(_.entered.contains(row)) && !evicted.contains(row)
      val gone = if (isTaken) evicted else row :: evicted
      val rest = copy(windows = turns.map(_.window.without(gone)))
      if (isTaken) {
        val turn = rest.windows(batch).arrive(row)
        Turn(rest.afterPost(turn), turn.entered, turn.left)
      } else Turn(rest, Nil, Nil)
    }

    override def due: Option[Long] = windows.flatMap(_.due).minOption

    override def fire(now: Long): Turn = {
      val (after, entered, left) =
        windows.indices.foldLeft((this, List.empty[Row], List.empty[Row])) {
          case ((before, _, _), `batch`) if isDue(before.windows(batch), now) =>
            val turn = before.windows(batch).fire(now)
            (before.afterPost(turn), turn.entered, turn.left)
          case ((before, entered, left), i) if isDue(before.windows(i), now) =>
            val turn = before.windows(i).fire(now)
            val rest = before.windows.updated(i, turn.window).map(_.without(turn.left))
            (copy(windows = rest), entered, left)
          case (unchanged, _) => unchanged
        }
      Turn(after, entered, left)
    }

    private def afterPost(turn: Turn): BatchIntersection =
      copy(windows = windows.updated(batch, turn.window).map(_.without(turn.entered)))

    override def without(gone: List[Row]): Window = copy(windows = windows.map(_.without(gone)))
  }

  /** A window that deletes a row when the last of its windows removes the row. */
  final case class Union(windows: List[Window]) extends Window {
    override def held: List[Row] = windows.flatMap(_.held).distinct

    override def arrive(row: Row): Turn = {
      val turns = windows.map(_.arrive(row))
      val isTaken = turns.exists(t => t.entered.contains(row) || t.window.held.contains(row))
      together(turns, if (isTaken) List(row) else Nil)
    }

    override def due: Option[Long] = windows.flatMap(_.due).minOption

    override def fire(now: Long): Turn = together(
      windows.map(window => if (isDue(window, now)) window.fire(now) else Turn(window, Nil, Nil)),
      Nil)

    // The order of deleted rows is that of their removal from the last window.
    private def together(turns: List[Turn], entered: List[Row]): Turn = {
      val after = Union(turns.map(_.window))
      val left = turns.flatMap(_.left).reverse.distinct.reverse
      Turn(after, entered, left.diff(after.held))
    }

    override def without(gone: List[Row]): Window = Union(windows.map(_.without(gone)))
  }

  private def isDue(window: Window, now: Long): Boolean = window.due.exists(_ <= now)

  /** The changes of one group for its rows, in order of arrival, until `end`. */
  def changes(window: Window, rows: Seq[Row], end: Long): Seq[Changed] = {
    val arrived = rows.foldLeft(Story(window)) { (story, row) =>
      val before = story.advance(row.at)
      before.change(row.at, before.window.arrive(row))
    }
    val changes = for {
      ((at, turn), step) <- arrived.advance(end).turns.zipWithIndex
      (kind, row) <- turn.entered.map("insert" -> _) ++ turn.left.map("delete" -> _)
    } yield Changed(kind, Some(at), step.toLong, 0, row.arrived)
    changes.zipWithIndex.map { case (change, i) => change.copy(sequence = i.toLong) }
  }

  /** A window with its non-empty steps so far. */
  private final case class Story(
      window: Window,
      clock: Long = Long.MinValue,
      turns: Vector[(Long, Turn)] = Vector.empty) {

    def change(at: Long, turn: Turn): Story = {
      val isEmpty = turn.entered.isEmpty && turn.left.isEmpty
      Story(turn.window, at, if (isEmpty) turns else turns :+ (at -> turn))
    }

    @tailrec
    def advance(until: Long): Story = window.due.filter(_ <= until) match {
      case None => this
      case Some(due) =>
        val now = Math.max(due, clock)
        change(now, window.fire(now)).advance(until)
    }
  }
}
