package winops.spark.restart

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.json4s.{JArray, JNothing, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import winops.spark.plan.{FramedFunction, RestartOptions}
import winops.window.piece.Resizable

/** The differences between the query that wrote a checkpoint and the query that restarts with it,
  * and what becomes of the state.
  *
  * @param differences
  *   each difference with its outcome; empty for the same query
  * @param hash
  *   identifies the plan of this operator when a user confirms it
  * @param hasHistory
  *   true if a table can supply the rows that the state lacks
  */
final case class RestartPlan(
    differences: Seq[Difference],
    hash: String,
    hasHistory: Boolean = false) {

  /** The outcome for the whole state: the most severe one. */
  def outcome: Outcome = Outcome.worst(differences.map(_.outcome))

  /** Returns true if the query can start. */
  def isAllowed: Boolean = replaces || outcome.severity < Outcome.NeedsHistory.severity

  /** Returns true if the first micro-batch removes the state and forms it anew from a table. */
  def replaces: Boolean = hasHistory && outcome == Outcome.NeedsHistory

  /** Returns true if the first micro-batch rewrites the stored groups. */
  def rewrites: Boolean = outcome == Outcome.Rebuilt || outcome == Outcome.Carried

  /** Returns true if the rows that are held enter another window. */
  def carries: Boolean = outcome == Outcome.Carried

  /** The differences in a message, one in a line. */
  def text: String = differences.map(_.text).mkString("\n")

  /** The differences because of which the query cannot start. */
  def obstacles: Seq[Difference] =
    if (isAllowed) Nil
    else differences.filter(_.outcome.severity >= Outcome.NeedsHistory.severity)
}

object RestartPlan {

  /** The plan of a query with several operators, from the hashes of their plans. */
  def together(hashes: Seq[String]): String = hashes.distinct.mkString(",")

  /** The hashes in what [[together]] returned. Ignores parts that are no hashes. */
  def parts(plan: String): Seq[String] =
    plan.split(',').map(_.trim).filter(Hash.matches).toIndexedSeq

  /** Compares the identities of two queries, as parsed JSON.
    *
    * @param options
    *   the arguments of the query for a restart
    */
  private[spark] def of(
      before: Map[String, JValue],
      now: Map[String, JValue],
      options: RestartOptions): RestartPlan = {
    val differences = new Comparison(before, now, options.carries).differences
    val found = RestartPlan(
      if (!options.isAbove) differences
      else differences.map(one => one.copy(remedy = Remedies.ofUpper(one.remedy))),
      hash(before, now, options.text),
      options.hasHistory)
    // The table is ignored by every other plan, so that it may be dropped.
    if (found.replaces) {
      found.copy(
        differences = found.differences.map(_.copy(remedy = "")),
        hash = hash(before, now, s"${options.text} history"))
    } else found
  }

  private def hash(
      before: Map[String, JValue],
      now: Map[String, JValue],
      options: String): String = {
    val text = Seq(before, now).map { identity =>
      identity.toSeq.sortBy(_._1).map { case (name, value) => s"$name=${compact(render(value))}" }
    }
    val bytes = MessageDigest
      .getInstance("SHA-256")
      .digest(s"${text.mkString("\n")}\n$options".getBytes(UTF_8))
    bytes.take(HashBytes).map(byte => f"$byte%02x").mkString
  }

  private val HashBytes = 8
  private val Hash = s"[0-9a-f]{${2 * HashBytes}}".r

  private final class Comparison(
      before: Map[String, JValue],
      now: Map[String, JValue],
      carries: Boolean) {
    import IdentityFields._

    private val read = Seq(before, now).flatMap(_.get(Reads)).flatMap(textsOf).toSet

    private val columns = new ColumnDifferences(
      before.getOrElse(Columns, JNothing),
      now.getOrElse(Columns, JNothing),
      read,
      haveLookups)

    private def haveLookups: Boolean = Seq(before, now).forall(_.contains(Lookup))

    private def isSame(field: String): Boolean = before.get(field) == now.get(field)

    def differences: Seq[Difference] =
      if (operator.nonEmpty) operator.toSeq
      else if (isSame(Join)) ofState
      else {
        JoinDifferences.of(before.getOrElse(Join, JNothing), now.getOrElse(Join, JNothing))
      }

    private def ofState: Seq[Difference] = {
      val rows = columns.differences
      val results = if (before.contains(Over)) functions else aggregates
      val others = window ++ group ++ Seq(Order, Time, Apply, Arguments, ExactFloats)
        .flatMap(needingHistory(_, "The stored rows have been applied in another way.")) ++
        Seq(Key, Operation, Buffer, Whole, Punctuation, Across).flatMap(
          needingHistory(_, "The stored state has another form.")) ++
        refused(SourcePartition, "The stored state has another form.", Remedies.former) ++
        refused(Lookup, "The rows that wait are in another order.", Remedies.former) ++
        lookupBy ++ task
      val made = others ++ rows ++ results
      (made ++ zone(made)).map(ofCrossGroup)
    }

    /** A keep, an as-of join and a window function have no state in common. */
    private def operator: Option[Difference] =
      Option.unless(nameOf(before) == nameOf(now)) {
        Difference(
          "operator",
          nameOf(before),
          nameOf(now),
          Outcome.Refused,
          "The states of keep, of asof_join and of window functions have nothing in common.",
          Remedies.former)
      }

    private def nameOf(identity: Map[String, JValue]): String =
      if (identity.contains(Over)) "OVER"
      else if (identity.contains(Join)) "asof_join"
      else "keep"

    private def window: Seq[Difference] =
      if (isSame(Policy) && isSame(Dialect)) Nil
      else if (isResized) {
        Seq(difference("policy", Policy, Outcome.Continues, ofLength))
      } else {
        val lost = "Rows that the former window had evicted cannot be in the new one"
        val ofWindow = if (isSame(Policy)) Dialect else Policy
        val found = notCarried match {
          case Some(why) =>
            difference("policy", ofWindow, Outcome.NeedsHistory, why, Remedies.history)
          case None if carries =>
            difference(
              "policy",
              ofWindow,
              Outcome.Carried,
              s"The rows that are held enter the new window in their order, and those that it does not keep are deleted. $lost.")
          case None =>
            difference("policy", ofWindow, Outcome.NeedsHistory, s"$lost.", Remedies.carry)
        }
        Seq(found)
      }

    /** Why the rows of the former window cannot enter the new one. */
    private def notCarried: Option[String] =
      if (Seq(before, now).exists(_.contains(Key))) {
        Some("Rows with a primary key cannot be numbered as the new window would have done.")
      } else if (Seq(before, now).exists(_.contains(OneSided))) {
        Some("A policy that emits inserts only or deletes only does not number the other ones.")
      } else if (isNamed(before) != isNamed(now) && !haveResults) {
        Some(
          "Changes of windows with names have the name in _window, and other changes have no such column.")
      } else Option.when(isCrossGroup)(SharedState)

    private def isNamed(identity: Map[String, JValue]): Boolean = identity.get(Policy).exists {
      case JString(text) => NamedWindows.First.matches(text)
      case _ => false
    }

    private def haveResults: Boolean = Seq(before, now).forall(_.contains(Results))

    private def isResized: Boolean =
      isSame(Dialect) && before.contains(Lengths) && isSame(Lengths)

    private def ofLength: String =
      if (now.get(Lengths).contains(JString(Resizable.ByRows.name))) {
        "Rows that exceed a shorter window leave with the group's next row. A longer window fills."
      } else
        "Rows that are too old for a shorter window leave in the first micro-batch. A longer window fills."

    private def needingHistory(field: String, because: String): Option[Difference] =
      Option.unless(isSame(field)) {
        difference(field, field, Outcome.NeedsHistory, because, Remedies.history)
      }

    private def refused(field: String, because: String, remedy: String): Option[Difference] =
      Option.unless(isSame(field)) {
        difference(field, field, Outcome.Refused, because, remedy)
      }

    /** Rows that wait have the time and the key that they came with. */
    private def lookupBy: Option[Difference] =
      if (!haveLookups) None
      else {
        refused(
          LookupBy,
          "The rows that wait to look up have the time and the key of the former columns.",
          Remedies.former)
      }

    private def group: Option[Difference] =
      if (areKeysSame) needingHistory(Group, "The stored rows have been applied in another way.")
      else {
        val shown = if (isSame(Group)) Keys else Group
        Some(
          difference(
            Group,
            shown,
            Outcome.Refused,
            "A checkpoint has group keys of one number and type.",
            Remedies.another))
      }

    /** Checkpoints without the types of the keys do not say either whether groups share state. */
    private def areKeysKnown: Boolean = before.contains(Keys)

    private def areKeysSame: Boolean = isSame(Keys) || !areKeysKnown

    private def task: Option[Difference] =
      if (!areKeysKnown || !isSame(Keys)) None
      else {
        refused(
          CrossGroup,
          "One task has the state of a cross-group window, and several tasks have that of others.",
          Remedies.another)
      }

    private def functions: Seq[Difference] =
      FunctionsIdentity.differences(before, now, columns.altered, columns.renamed)

    private def aggregates: Seq[Difference] = {
      val (was, is) = (before.get(Results), now.get(Results))
      val ofTypes = columns.altered.nonEmpty && is.isDefined
      // The form in which aggregates are stored is unknown in checkpoints without it.
      val isFormKnown = was.isEmpty || before.contains(Aggregates)
      if (was == is && (isSame(Aggregates) || !isFormKnown) && !ofTypes) Nil
      else {
        val (left, right) = (was.toSeq.flatMap(textsOf), is.toSeq.flatMap(textsOf))
        val needsArrival = lastOf(now).exists(_.nonEmpty) &&
          (lastOf(now) != lastOf(before) || ofTypes)
        val isNumberedAnew =
          was.isDefined != is.isDefined && Seq(before, now).exists(_.contains(OneSided))
        val obstacle =
          if (!isFormKnown) Some("The form in which the aggregates are stored is unknown.")
          else if (isNumberedAnew) {
            Some(
              "Steps and changes have other numbers, because the policy emits one kind of changes only.")
          } else None
        def of(subject: String, before: String, now: String, because: String) = {
          val lacking = obstacle.orElse(Option.when(needsArrival && now != "nothing") {
            "It has values of the newest row, which the state may not have any more."
          })
          lacking.fold(Difference(subject, before, now, Outcome.Rebuilt, because)) { why =>
            Difference(subject, before, now, Outcome.NeedsHistory, why, Remedies.history)
          }
        }
        val computed = "The first micro-batch computes it from the rows of the windows."
        val added =
          right.diff(left).map(one => of(s"aggregate $one", "nothing", "present", computed))
        val removed = left.diff(right).map { one =>
          of(s"aggregate $one", "present", "nothing", "Its stored values are removed.")
        }
        if ((added ++ removed).nonEmpty) added ++ removed
        else if (left != right) {
          Seq(of("order of the aggregates", left.mkString(", "), right.mkString(", "), computed))
        } else {
          // Snapshots have contents without an aggregate.
          val texts = Seq(was, is).map(_.fold("nothing")(compactOf))
          def shown(text: String, query: String) =
            if (texts.distinct.size > 1) text else s"$text as $query stores them"
          Seq(
            of(
              "aggregates",
              shown(texts.head, "the former query"),
              shown(texts.last, "this query"),
              if (is.isDefined) computed else "Their stored values are removed."))
        }
      }
    }

    /** The expressions of the newest row that results have, for each window. */
    private def lastOf(identity: Map[String, JValue]): Option[Seq[String]] =
      identity.get(Aggregates).map(stored => textsOf(stored \ "last"))

    /** Another time zone; one that other expressions bring, or no longer need, is no difference.
      */
    private def zone(others: Seq[Difference]): Option[Difference] =
      if (isSame(Zone) || others.nonEmpty && !(before.contains(Zone) && now.contains(Zone))) None
      else needingHistory(Zone, "The stored rows have been applied in another way.")

    private def ofCrossGroup(one: Difference): Difference =
      if (isCrossGroup && (one.outcome == Outcome.Rebuilt || one.outcome == Outcome.Carried)) {
        one.copy(outcome = Outcome.NeedsHistory, because = SharedState, remedy = Remedies.history)
      } else one

    private def isCrossGroup: Boolean = before.contains(CrossGroup) || now.contains(CrossGroup)

    private def difference(
        subject: String,
        field: String,
        outcome: Outcome,
        because: String,
        remedy: String = ""): Difference = {
      val (left, right) = (before.get(field), now.get(field))
      Difference(
        subject,
        shown(field, left, right),
        shown(field, right, left),
        outcome,
        because,
        remedy)
    }

    private def shown(field: String, value: Option[JValue], other: Option[JValue]): String =
      (value, other) match {
        case (Some(_), None) if field == SourcePartition => "known"
        case (None, Some(_)) if field == SourcePartition =>
          "unknown because of an operator such as repartition or map before keep"
        case (Some(json), Some(others)) =>
          val (own, its) = (compactOf(json), compactOf(others))
          val isHidden = FramedFunction.withoutDigest(own) == FramedFunction.withoutDigest(its)
          if (isHidden) s"$own$HiddenDifference" else own
        case (Some(json), None) => compactOf(json)
        case (None, _) => "nothing"
      }
  }

  private def compactOf(json: JValue): String = compact(render(json))

  private def textsOf(json: JValue): Seq[String] = json match {
    case JArray(values) => values.collect { case JString(text) => text }
    case _ => Nil
  }

  private val SharedState =
    "The groups of a cross-group window share state, which is not rebuilt."

  private[restart] val HiddenDifference =
    " (the SQL is the same, but not what the number after arguments: stands for: schemas, " +
      "options, types, lambda variables, the mode for errors, and the code of functions)"
}
