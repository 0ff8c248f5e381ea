package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import winops.spark.internal.WinopsErrors

/** Resolves a call of the table function `asof_join`, whose arguments have the names and meanings
  * of pandas' `merge_asof`.
  */
private[spark] object AsOfArguments {
  import AsOfPlan.{Backward, Forward, MicrosPerDay, Nearest}

  private val Names = Seq(
    "on",
    "left_on",
    "right_on",
    "by",
    "left_by",
    "right_by",
    "direction",
    "tolerance",
    "allow_exact_matches",
    "how",
    "suffixes",
    "idle",
    "max_rows",
    "at_end",
    "late")

  private val LeftJoin = "left"
  private val InnerJoin = "inner"
  private val DropLate = "drop"
  private val EmitLate = "emit"
  private val WaitAtEnd = "wait"
  private val FlushAtEnd = "flush"

  /** The call with these arguments. */
  def of(arguments: Seq[Expression]): UnresolvedAsOf = {
    val TableArguments(left, right, named) = TableArguments.of(
      arguments,
      "left",
      "right",
      Names,
      withoutOrder = ", and the columns that must be equal in by, or left_by and right_by")
    // The two sides may be the same table.
    UnresolvedAsOf(named, left, renewed(right))
  }

  /** The plan of a call whose tables are resolved.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def planOf(call: UnresolvedAsOf, definitions: Map[Long, CTERelationDef]): LogicalPlan =
    new Call(call.left, call.right, call.arguments, definitions).plan

  private def renewed(rows: LogicalPlan): LogicalPlan =
    Project(rows.output.map(column => Alias(column, column.name)()), rows)

  /** A call with its tables and arguments. */
  private final class Call(
      left: LogicalPlan,
      right: LogicalPlan,
      arguments: Map[String, Expression],
      definitions: Map[Long, CTERelationDef]) {
    private val direction = oneOf("direction", Seq(Backward, Forward, Nearest))
    private val isInner = oneOf("how", Seq(LeftJoin, InnerJoin)) == InnerJoin
    private val isExact = arguments
      .get("allow_exact_matches")
      .forall(value => Arguments.flagOf("allow_exact_matches", value))
    private val (leftTime, rightTime) = columnsOf("on", isRequired = true).head
    private val keys = columnsOf("by", isRequired = false)

    /** The tolerance in microseconds. */
    private val tolerance = arguments.get("tolerance").map(microsOf)

    private val options = AsOfOptions(
      arguments.get("idle"),
      arguments.get("max_rows"),
      arguments.get("at_end"),
      oneOf("late", Seq(DropLate, EmitLate)) == EmitLate)

    def plan: LogicalPlan = {
      val waits = direction != Backward && left.isStreaming
      if (waits && tolerance.isEmpty) {
        throw AsOfPlan.refused(
          s"with the direction $direction, the row that matches may come later, and on a stream " +
            "a later row may always come",
          "Give a tolerance, use the direction backward, or join tables")
      }
      if (left.isStreaming != right.isStreaming) {
        throw AsOfPlan.ofStreamAndTable
      }
      if (options.idle.isDefined && direction != Backward) {
        throw WinopsErrors.argument(
          "UNKNOWN",
          "idle",
          s"it with the direction $Backward; the others hold the rows within the tolerance only")
      }
      // The watermark would pass rows of the right side within the tolerance.
      if (waits && oneOf("at_end", Seq(WaitAtEnd, FlushAtEnd)) == FlushAtEnd) {
        throw WinopsErrors.argument(
          "VALUE",
          "at_end",
          s"'$WaitAtEnd' with the direction $direction, whose rows wait for the rows within the " +
            s"tolerance; '$FlushAtEnd' is for the direction $Backward")
      }
      AsOfPlan.checkTimeTypes(leftTime, rightTime)
      val joined = direction match {
        case _ if waits => waiting(tolerance.get).plan(definitions)
        case Backward =>
          lookup(left, right, isForward = false, isInner, options).plan(definitions)
        case Forward => lookup(left, right, isForward = true, isInner, options).plan(definitions)
        case _ => nearest
      }
      shown(joined)
    }

    private def lookup(
        left: LogicalPlan,
        right: LogicalPlan,
        isForward: Boolean,
        isInner: Boolean,
        options: AsOfOptions): AsOfLookup = {
      val there = right.output
        .zip(this.right.output)
        .map { case (own, first) =>
          first.exprId -> own
        }
        .toMap
      val at = there(rightTime.exprId)
      val (before, behind) = if (isForward) (leftTime, at) else (at, leftTime)
      AsOfLookup(
        left,
        right,
        keys.map { case (own, other) => own -> there(other.exprId) },
        leftTime,
        at,
        isExact,
        isInner,
        tolerance.map { most =>
          LessThanOrEqual(AsOfPlan.distance(before, behind), Literal(most))
        },
        isForward,
        options = options)
    }

    /** The join of streams in which a row waits for those behind it. */
    private def waiting(most: Long): AsOfWait = {
      val isForward = direction == Forward
      val later =
        if (isExact) GreaterThanOrEqual(rightTime, leftTime) else GreaterThan(rightTime, leftTime)
      val isNear = And(
        LessThanOrEqual(AsOfPlan.distance(leftTime, rightTime), Literal(most)),
        LessThanOrEqual(AsOfPlan.distance(rightTime, leftTime), Literal(most)))
      val isOther = if (isExact) Literal.TrueLiteral else Not(EqualTo(leftTime, rightTime))
      AsOfWait(
        left,
        right,
        keys,
        leftTime,
        rightTime,
        isInner,
        And(if (isForward) later else isOther, isNear),
        most,
        isNearest = !isForward,
        options = options)
    }

    /** The rows of both directions, of which the nearer one matches, or the one before if both
      * are as near.
      */
    private def nearest: LogicalPlan = {
      // One of the two adds the column with the reason of rows without a time.
      val silent = options.copy(emitsLate = false)
      val before =
        lookup(left, right, isForward = false, isInner = false, silent).plan(definitions)
      val both = lookup(before, renewed(right), isForward = true, isInner = false, options)
        .plan(definitions)
      val (own, matches) = both.output.splitAt(left.output.size)
      val (ofBefore, others) = matches.splitAt(right.output.size)
      val (ofLater, reason) = others.splitAt(right.output.size)
      val at = right.output.indexWhere(_.exprId == rightTime.exprId)
      val time = own(left.output.indexWhere(_.exprId == leftTime.exprId))
      val (earlier, later) = (ofBefore(at), ofLater(at))
      val isBefore = AsOfPlan.isEarlierNearer(earlier, later, time)
      val nearer = ofBefore.zip(ofLater).map { case (one, other) =>
        Alias(If(isBefore, one, other), one.name)()
      }
      val isShown = (Seq(earlier, later) ++ reason).map(IsNotNull(_): Expression).reduce(Or(_, _))
      Project(own ++ nearer ++ reason, if (isInner) Filter(isShown, both) else both)
    }

    /** The columns of the output: those that are named once for both sides are not repeated, and
      * others of the same name have suffixes.
      */
    private def shown(joined: LogicalPlan): LogicalPlan = {
      val shared = Seq("on" -> Seq(rightTime), "by" -> keys.map(_._2)).collect {
        case (name, once) if arguments.contains(name) => once
      }.flatten
      val (ofLeft, all) = joined.output.splitAt(left.output.size)
      val ofRight = all.zip(right.output).collect {
        case (column, own) if !shared.exists(_.exprId == own.exprId) => column
      }
      val isSame = SQLConf.get.resolver
      def named(side: String, columns: Seq[Attribute], others: Seq[Attribute], suffix: String) =
        columns.map { column =>
          val isTwice = others.exists(other => isSame(other.name, column.name))
          val name = if (isTwice) s"${column.name}$suffix" else column.name
          Shown(side, column, Alias(column, name)())
        }
      val (one, other) = suffixes
      val reason = all.drop(right.output.size)
      val ofBoth = named("left", ofLeft, ofRight, one) ++ named("right", ofRight, ofLeft, other)
      checkNames(ofBoth)
      val columns = ofBoth.map(_.shown)
      CheckKeep.names(
        reason,
        columns.map(_.toAttribute),
        "The as-of join has",
        "Omit late='emit' (in SQL late => 'emit'), or rename the column before, for example " +
          "with withColumnRenamed")
      Project(columns ++ reason, joined)
    }

    /** Refuses suffixes that give two columns the same name. Columns of one side that have one
      * name already may keep it.
      */
    private def checkNames(columns: Seq[Shown]): Unit = {
      val isSame = SQLConf.get.resolver
      for {
        (column, i) <- columns.zipWithIndex
        other <- columns.drop(i + 1)
        if isSame(column.shown.name, other.shown.name)
        if column.side != other.side || !isSame(column.own.name, other.own.name)
      } throw WinopsErrors.analysis(
        "WINOPS_COLUMN_CONFLICT",
        "input" -> "The as-of join has",
        "column" -> s"${column.own.name} of the ${column.side} side",
        "expected" -> ("In the output of asof_join, this column and the column " +
          s"${other.own.name} of the ${other.side} side have the name ${other.shown.name}. Give " +
          "other suffixes, such as suffixes=('_left', '_right'), in SQL suffixes => " +
          "ARRAY('_left', '_right'), or rename one of the columns before"))
    }

    private def suffixes: (String, String) =
      arguments.get("suffixes").map(Arguments.namesOf("suffixes", _)) match {
        case None => ("_x", "_y")
        case Some(Seq(one, other)) => (one, other)
        case Some(_) =>
          throw WinopsErrors.argument("VALUE", "suffixes", "two texts, such as ARRAY('_x', '_y')")
      }

    /** The columns that an argument names for both sides, or two arguments for one side each. */
    private def columnsOf(name: String, isRequired: Boolean): Seq[(Attribute, Attribute)] = {
      def names(argument: String) =
        arguments.get(argument).map(Arguments.namesOf(argument, _))
      val (both, ofLeft, ofRight) =
        (names(name), names(s"left_$name"), names(s"right_$name"))
      val pairs = (both, ofLeft, ofRight) match {
        case (Some(same), None, None) => same.map(one => one -> one)
        case (None, Some(one), Some(other)) if one.size == other.size => one.zip(other)
        case (None, None, None) if !isRequired => Nil
        case _ =>
          throw WinopsErrors.argument(
            if (both.isEmpty && ofLeft.isEmpty && ofRight.isEmpty) "MISSING" else "VALUE",
            name,
            s"either $name, or left_$name and right_$name with as many columns")
      }
      if (isRequired && pairs.size != 1) {
        throw WinopsErrors.argument("VALUE", name, "one time column of each side")
      }
      val instead =
        if (both.isDefined) s", or name a column of each side with left_$name and right_$name"
        else ""
      def columnOf(side: String, column: String, rows: LogicalPlan) = NamedColumns.of(
        s"the argument ${if (both.isDefined) name else s"${side}_$name"}",
        column,
        rows.output,
        s"The $side side of the as-of join",
        instead)
      pairs.map { case (one, other) =>
        (columnOf("left", one, left), columnOf("right", other, right))
      }
    }

    private def oneOf(name: String, choices: Seq[String]): String =
      arguments.get(name).fold(choices.head) { value =>
        val text = lower(Arguments.textOf(name, value))
        choices.find(_ == text).getOrElse {
          throw WinopsErrors.argument("VALUE", name, choices.mkString("'", "' or '", "'"))
        }
      }

    private def microsOf(value: Expression): Long = {
      val interval = (value.dataType, if (value.foldable) value.eval() else null) match {
        case (_: DayTimeIntervalType, micros: Long) => Some(micros)
        case (CalendarIntervalType, interval: CalendarInterval) => micros(interval)
        case (_: StringType, text: UTF8String) =>
          Option(IntervalUtils.safeStringToInterval(text)).flatMap(micros)
        case _ => None
      }
      interval.filter(_ >= 0).getOrElse {
        throw WinopsErrors.argument(
          "VALUE",
          "tolerance",
          "an interval of zero or more such as '5 seconds', without months and years, and not " +
            shownValue(value))
      }
    }

    /** The interval in microseconds; none if it has months, or too many microseconds. */
    private def micros(interval: CalendarInterval): Option[Long] =
      Option
        .when(interval.months == 0) {
          BigInt(interval.days) * MicrosPerDay + interval.microseconds
        }
        .filter(_.isValidLong)
        .map(_.toLong)

    /** The value of a constant as a call has it. */
    private def shownValue(value: Expression): String =
      if (!value.foldable) value.sql
      else {
        value.eval() match {
          case null => "NULL"
          case text: UTF8String => s"'$text'"
          case other => Literal.create(other, value.dataType).sql
        }
      }
  }

  /** A column of the output.
    *
    * @param side
    *   the side that has the column
    * @param own
    *   the column of this side
    */
  private final case class Shown(side: String, own: Attribute, shown: Alias)

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
