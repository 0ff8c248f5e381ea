package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import winops.spark.internal.WinopsErrors

/** Resolves a call of the table function `asof_join`, whose arguments have the names and meanings
  * of pandas' `merge_asof`.
  */
private[spark] object AsOfArguments {
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
    "suffixes")

  private val Backward = "backward"
  private val Forward = "forward"
  private val Nearest = "nearest"
  private val LeftJoin = "left"
  private val InnerJoin = "inner"

  /** The plan of a call with these arguments. */
  def of(arguments: Seq[Expression]): LogicalPlan = {
    val (tables, others) = arguments.span(_.isInstanceOf[FunctionTableSubqueryArgumentExpression])
    val named = others.map {
      case NamedArgumentExpression(name, value) if Names.contains(lower(name)) =>
        lower(name) -> value
      case NamedArgumentExpression(name, _) =>
        throw WinopsErrors.argument("UNKNOWN", name, Names.mkString("one of ", ", ", ""))
      case other =>
        throw WinopsErrors.argument(
          "UNKNOWN",
          other.sql,
          "TABLE(left), TABLE(right), and then named arguments")
    }
    named.groupBy(_._1).foreach { case (name, given) =>
      if (given.size > 1) throw WinopsErrors.argument("DUPLICATE", name, "each argument once")
    }
    tables match {
      case Seq(
            left: FunctionTableSubqueryArgumentExpression,
            right: FunctionTableSubqueryArgumentExpression) =>
        // The two sides may be the same table.
        val renewed = right.plan.output.map(column => Alias(column, column.name)())
        new Call(left.plan, Project(renewed, right.plan), named.toMap).plan
      case _ =>
        throw WinopsErrors.argument(
          "MISSING",
          "table",
          "TABLE(left) and TABLE(right) as the first two arguments")
    }
  }

  /** A call with its tables and arguments. */
  private final class Call(
      left: LogicalPlan,
      right: LogicalPlan,
      arguments: Map[String, Expression]) {
    private val direction = oneOf("direction", Seq(Backward, Forward, Nearest))
    private val isInner = oneOf("how", Seq(LeftJoin, InnerJoin)) == InnerJoin
    private val isExact = arguments
      .get("allow_exact_matches")
      .forall(value => Arguments.flagOf("allow_exact_matches", value))
    private val (leftTime, rightTime) = columnsOf("on", isRequired = true).head
    private val keys = columnsOf("by", isRequired = false)

    /** The tolerance in microseconds. */
    private val tolerance = arguments.get("tolerance").map(microsOf)

    def plan: LogicalPlan = {
      val waits = direction != Backward && left.isStreaming
      if (waits && tolerance.isEmpty) {
        throw refused(
          s"with the direction $direction, the row that matches may come later, and on a stream " +
            "a later row may always come",
          "Give a tolerance, use the direction backward, or join tables")
      }
      if (left.isStreaming != right.isStreaming) {
        throw refused(
          "one side is a stream and the other one a table",
          "Join two streams, or two tables")
      }
      checkTypes()
      val joined = direction match {
        case _ if waits => waiting(tolerance.get).plan(Map.empty)
        case Backward => lookup(left, right, isForward = false, isInner).plan(Map.empty)
        case Forward => lookup(left, right, isForward = true, isInner).plan(Map.empty)
        case _ => nearest
      }
      shown(joined)
    }

    private def lookup(
        left: LogicalPlan,
        right: LogicalPlan,
        isForward: Boolean,
        isInner: Boolean): AsOfLookup = {
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
        isForward)
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
        isNearest = !isForward)
    }

    /** The rows of both directions, of which the nearer one matches, or the one before if both
      * are as near.
      */
    private def nearest: LogicalPlan = {
      val before = lookup(left, right, isForward = false, isInner = false).plan(Map.empty)
      val again = Project(right.output.map(column => Alias(column, column.name)()), right)
      val both = lookup(before, again, isForward = true, isInner = false).plan(Map.empty)
      val (own, matches) = both.output.splitAt(left.output.size)
      val (ofBefore, ofLater) = matches.splitAt(right.output.size)
      val at = right.output.indexWhere(_.exprId == rightTime.exprId)
      val time = own(left.output.indexWhere(_.exprId == leftTime.exprId))
      val (earlier, later) = (ofBefore(at), ofLater(at))
      val isBefore = And(
        IsNotNull(earlier),
        Or(
          IsNull(later),
          LessThanOrEqual(AsOfPlan.distance(earlier, time), AsOfPlan.distance(time, later))))
      val nearer = ofBefore.zip(ofLater).map { case (one, other) =>
        Alias(If(isBefore, one, other), one.name)()
      }
      val isMatched = Or(IsNotNull(earlier), IsNotNull(later))
      Project(own ++ nearer, if (isInner) Filter(isMatched, both) else both)
    }

    /** The columns of the output: those that are named once for both sides are not repeated, and
      * others of the same name have suffixes.
      */
    private def shown(joined: LogicalPlan): LogicalPlan = {
      val shared = Seq("on" -> Seq(rightTime), "by" -> keys.map(_._2)).collect {
        case (name, columns) if arguments.contains(name) => columns
      }.flatten
      val (ofLeft, all) = joined.output.splitAt(left.output.size)
      val ofRight = all.zip(right.output).collect {
        case (column, own) if !shared.exists(_.exprId == own.exprId) => column
      }
      val isSame = SQLConf.get.resolver
      def named(columns: Seq[Attribute], others: Seq[Attribute], suffix: String) =
        columns.map { column =>
          val isTwice = others.exists(other => isSame(other.name, column.name))
          Alias(column, if (isTwice) s"${column.name}$suffix" else column.name)()
        }
      val (one, other) = suffixes
      Project(named(ofLeft, ofRight, one) ++ named(ofRight, ofLeft, other), joined)
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
      def sideOf(side: String) = if (both.isDefined) name else s"${side}_$name"
      pairs.map { case (one, other) =>
        (columnOf(sideOf("left"), one, left), columnOf(sideOf("right"), other, right))
      }
    }

    private def columnOf(argument: String, name: String, rows: LogicalPlan): Attribute =
      rows.output.filter(column => SQLConf.get.resolver(column.name, name)) match {
        case Seq(column) => column
        case _ => throw WinopsErrors.unknownColumn(argument, name, rows.output)
      }

    private def checkTypes(): Unit = Seq(leftTime, rightTime).foreach { column =>
      column.dataType match {
        case TimestampType | TimestampNTZType =>
        case other =>
          throw WinopsErrors
            .analysis("WINOPS_TIME_TYPE", "column" -> column.name, "type" -> other.sql)
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
          "an interval such as INTERVAL 5 SECONDS, of at least 0 and without months")
      }
    }

    private def micros(interval: CalendarInterval): Option[Long] =
      Option.when(interval.months == 0)(interval.days * MicrosPerDay + interval.microseconds)
  }

  private val MicrosPerDay = 24L * 60 * 60 * 1000 * 1000

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)

  private def refused(reason: String, expected: String): AnalysisException =
    WinopsErrors.analysis("WINOPS_ASOF_JOIN", "reason" -> reason, "expected" -> expected)
}
