package winops.policy

/** A retention policy: which rows of a stream are still remembered, and what is told of it.
  *
  * Every window of every dialect is a combination of these six pieces, and the machine knows
  * nothing but them: a named window is a line in a table, never a class.
  *
  * @param group
  *   which rows share one window
  * @param admit
  *   whether an arriving row may come in at all
  * @param order
  *   what "oldest" means
  * @param bound
  *   which prefix of the order is too much
  * @param beats
  *   when rows enter, when the bound is applied, when the content is reported
  * @param stream
  *   which changes are told, and in which order within a step
  * @param text
  *   the policy as its dialect writes it, parameters filled in, keywords in one spelling: what
  *   EXPLAIN shows
  * @param window
  *   the text without its group, which can be given elsewhere too: equal windows over equal
  *   groups mean equal policies, so this is what a checkpoint remembers
  */
final case class Policy(
    group: Group,
    admit: Admit,
    order: Order,
    bound: Bound,
    beats: Beats,
    stream: Stream,
    text: String,
    window: String) {

  /** Whether rows leave because of time alone, so that the machine needs a clock. */
  def usesTime: Boolean = bound.usesTime || beats.usesTime
}

/** Group: the columns whose distinct values have a window each; none means one window for all. */
final case class Group(columns: Seq[String])

object Group {
  val whole: Group = Group(Nil)
}

/** Admit: whether an arriving row may come in at all. */
sealed trait Admit

object Admit {
  case object All extends Admit
}

/** Order: what "oldest" means. */
sealed trait Order

object Order {
  case object Arrival extends Order
}

/** Bound: which prefix of the order is too much. */
sealed trait Bound {
  def usesTime: Boolean = false
}

object Bound {

  /** Nothing is ever too much. */
  case object Unbounded extends Bound

  /** All but the newest `rows` rows. */
  final case class MoreThan(rows: Long) extends Bound

  /** The rows that arrived `micros` microseconds ago or earlier. */
  final case class AgeReached(micros: Long) extends Bound {
    override def usesTime: Boolean = true
  }

  /** Every row. */
  case object Everything extends Bound
}

/** When rows enter the window, when the bound is applied to it, when its content is reported. */
final case class Beats(enter: Beat, leave: Beat, report: Beat) {
  def usesTime: Boolean = enter.usesTime || leave.usesTime || report.usesTime
}

/** Beat: when something happens. */
sealed trait Beat {
  def usesTime: Boolean = false
}

object Beat {
  case object Never extends Beat

  case object EachRow extends Beat

  /** When the bound is exceeded by `rows` rows: 1 is at once, more is a SLACK. */
  final case class Excess(rows: Long) extends Beat

  /** The instant at which a row becomes too old. */
  case object WhenDue extends Beat {
    override def usesTime: Boolean = true
  }

  /** The multiples of `micros` microseconds, counted from the origin. */
  final case class Period(micros: Long, origin: Origin) extends Beat {
    override def usesTime: Boolean = true
  }
}

/** Where a periodic beat starts to count. */
sealed trait Origin

object Origin {

  /** Milliseconds since the epoch. */
  final case class At(millis: Long) extends Origin

  /** The first row that the group ever had. */
  case object FirstRow extends Origin

  val epoch: Origin = At(0L)
}

/** Stream: which changes are told, and in which order within a step. */
sealed trait Stream

object Stream {

  /** Inserts and deletes; within a step the inserted rows first. */
  case object InsertsThenDeletes extends Stream
}
