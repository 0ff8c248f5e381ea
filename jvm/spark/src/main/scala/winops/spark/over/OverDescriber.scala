package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}

import winops.spark.expressions.UnqualifiedSql
import winops.spark.frames.{FrameReach, Frames}
import winops.spark.plan.{FrameBound, FramedFunction, OffsetValue, OverPlan}

/** Describes window functions in English. */
private[spark] final class OverDescriber(plan: OverPlan) {
  import OverDescriber.sql

  private val functions = plan.results
    .collect { case function: FramedFunction => function }
    .distinctBy(plan.identityOf)

  /** All functions in one text. */
  def sentence: String = {
    val group =
      if (plan.groupExpressions.isEmpty) "Over all rows" else s"For each ${quoted(keys)}"
    val computed = functions.map(one => s"${quoted(one)} of ${frame(one)}").mkString("; ")
    val known = functions.map(knownWhen).distinct.mkString(" and ")
    s"$group, in the order of ${quoted(order)}, computes $computed. A row gets its results $known."
  }

  /** The parts of the functions, each with its name. */
  def pieces: Seq[(String, String)] = {
    val ofFunctions = functions.flatMap { one =>
      Seq("function" -> sql(one.child), "frame" -> frame(one))
    }
    ofFunctions ++ Seq("partition" -> partition, "order" -> ordered) ++
      functions.map(knownWhen).distinct.map("result known" -> _) ++
      functions.map(storedFor).distinct.map("stored" -> _) ++
      Option.when(functions.exists(_.needsFollowing) || plan.time.isDefined)(
        "stored" -> "whole rows while they wait") ++
      Seq("removed" -> plan.spec.idleMillis.fold(
        "groups are never removed; set spark.winops.over.idle if their keys never end")(millis =>
        s"a group after $millis ms without a row"))
  }

  private def keys: Seq[String] = plan.groupExpressions.map(UnqualifiedSql.of)

  private def order: Seq[String] = plan.time.map(_.name).toSeq ++ plan.order.map { key =>
    s"${sql(key.child)}${if (key.isAscending) "" else " DESC"}"
  }

  private def partition: String =
    if (keys.isEmpty) "all rows are one group, in one task"
    else s"a group for each ${quoted(keys)}"

  private def ordered: String = plan.time match {
    case Some(_) =>
      s"${quoted(order)}; rows wait until the watermark has passed them, late rows are dropped"
    case None => s"the order of arrival, within a micro-batch ${quoted(order)}"
  }

  private def frame(function: FramedFunction): String = function.child match {
    case value: OffsetValue if value.offset == 0 => "the row itself"
    case value: OffsetValue =>
      val side = if (value.offset < 0) "before" else "behind"
      val which = if (value.ignoreNulls) " with a value" else ""
      s"the ${nth(Math.abs(value.offset.toLong))}row $side it$which"
    case _ => frame(function.lower, function.upper)
  }

  private def frame(lower: FrameBound, upper: FrameBound): String = (lower, upper) match {
    case (FrameBound.Unbounded, FrameBound.ByRows(0)) => "the row and all rows before it"
    case (FrameBound.Unbounded, FrameBound.ByPeers(keys)) =>
      s"the row, all rows before it and those with ${equalKeys(keys)}"
    case (FrameBound.ByRows(0), FrameBound.ByRows(0)) => "the row itself"
    case (FrameBound.ByRows(first), FrameBound.ByRows(0)) if first < 0 =>
      s"the row and the ${rows(-first.toLong)} before it"
    case (FrameBound.ByRows(0), FrameBound.ByRows(last)) if last > 0 =>
      s"the row and the ${rows(last.toLong)} behind it"
    case _ => s"the rows from ${point(lower)} to ${point(upper)}"
  }

  private def point(bound: FrameBound): String = bound match {
    case FrameBound.Unbounded => "the first of the group"
    case FrameBound.ByRows(0) => "the row itself"
    case FrameBound.ByRows(offset) =>
      s"the ${nth(Math.abs(offset.toLong))}row ${if (offset < 0) "before" else "behind"} it"
    case FrameBound.ByPeers(keys) => s"the rows with ${equalKeys(keys)}"
    case FrameBound.ByTime(offset, _, isFollowing) =>
      if (isFollowing) s"${offset.sql} after its time"
      else s"${offset.sql.replaceFirst("'-", "'")} before its time"
  }

  private def equalKeys(keys: Option[Int]): String = keys match {
    case None => "equal sort keys"
    case Some(1) => "an equal first sort key"
    case Some(many) => s"equal first $many sort keys"
  }

  private def knownWhen(function: FramedFunction): String = {
    val passes =
      if (plan.time.isDefined) "when the watermark passes" else "when it arrives, together with"
    (function.child, function.upper) match {
      case (value: OffsetValue, _) if value.offset > 0 =>
        val which = if (value.ignoreNulls) " with a value" else ""
        s"$passes the ${nth(value.offset.toLong)}row behind it$which"
      case (_: OffsetValue, _) => atOnce
      case (_, FrameBound.ByRows(last)) if last > 0 =>
        s"$passes the ${nth(last.toLong)}row behind it"
      case (_, FrameBound.ByTime(offset, _, true)) =>
        s"when the watermark passes its time and ${offset.sql}"
      case _ => atOnce
    }
  }

  private def atOnce: String =
    if (plan.time.isDefined) "when the watermark passes its time" else "when it arrives"

  private def storedFor(function: FramedFunction): String = {
    val columns = Frames.columns(Seq(function), plan).map(_.name)
    FrameReach.keptFor(function) match {
      case FrameReach.None if FrameReach.neededBy(function) == FrameReach.All =>
        s"one buffer of each group for ${quoted(function)}, and no earlier row"
      case FrameReach.None => s"no earlier row for ${quoted(function)}"
      case reach if columns.isEmpty => s"${reach.description}, without columns"
      case reach => s"${reach.description}, with the columns ${quoted(columns)}"
    }
  }

  private def nth(number: Long): String = number match {
    case 1 => ""
    case 2 => "second "
    case 3 => "third "
    case _ => s"$number-th "
  }

  private def rows(number: Long): String = if (number == 1) "row" else s"$number rows"

  private def quoted(function: FramedFunction): String = quoted(Seq(sql(function.child)))

  private def quoted(texts: Seq[String]): String = texts.map(text => s"`$text`").mkString(", ")
}

private[spark] object OverDescriber {

  /** The SQL of a function, without the default NULL of `lag` and `lead`. */
  def sql(function: Expression): String = function match {
    case value: OffsetValue if isNull(value.right) =>
      UnqualifiedSql.of(value).replace(s", ${value.right.sql})", ")")
    case other => UnqualifiedSql.of(other)
  }

  private def isNull(default: Expression): Boolean = default match {
    case Literal(null, _) => true
    case cast: Cast => isNull(cast.child)
    case _ => false
  }
}
