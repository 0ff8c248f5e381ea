package winops.spark.over

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{LongType, MetadataBuilder}

import winops.spark.plan.{ColumnsOfInput, Over}
import winops.spark.source.StoredColumns

/** The windows that a streaming aggregation groups by, as the time of window functions above it.
  *
  * Windows of one length have the same order by their start, their end and `window_time`. Only
  * `window_time` is never before the watermark when the aggregation emits the window.
  */
private[spark] object EventWindows {

  /** The first sort key of a window function as a time.
    *
    * @param time
    *   the column of `window_time`
    * @param input
    *   the rows with the column
    */
  final case class Ordered(time: Attribute, input: LogicalPlan)

  /** The time of an operator of window functions below, to which functions ordered by this key
    * can be added; None if the key is not the start, the end or the whole of a window of its
    * time.
    */
  def orderBelow(key: Expression, rows: LogicalPlan): Option[Ordered] =
    windowOf(key, rows).flatMap(timeBelow(_, rows)).map(Ordered(_, rows))

  /** A new time over the rows; None if the key is not the start, the end or the whole of a
    * window.
    */
  def order(key: Expression, rows: LogicalPlan): Option[Ordered] =
    windowOf(key, rows).flatMap(_ => withTime(key, rows))

  /** Returns true if no two rows of a plan have equal values of some expressions, because an
    * aggregation or `dropDuplicates` below makes them unique.
    */
  def areUnique(by: Seq[Expression], rows: LogicalPlan): Boolean = rows match {
    case Project(columns, child) => areUnique(by.map(inlined(_, columns)), child)
    case node @ (_: Filter | _: SubqueryAlias | _: View) => areUnique(by, node.children.head)
    case over: Over => areUnique(by, over.child)
    case StoredColumns(child) => areUnique(by.map(ColumnsOfInput.in(_, child.output)), child)
    case aggregate: Aggregate =>
      val meanings = by.map(inlined(_, aggregate.aggregateExpressions))
      aggregate.groupingExpressions.forall(group => meanings.exists(determines(_, group)))
    // Spark 4.3 gives the node a further member.
    case unique: Deduplicate =>
      unique.keys.forall(key => by.exists(_.semanticEquals(key))) || areUnique(by, unique.child)
    case _ => false
  }

  /** The expression of a column that the analyzer has named, such as `_w1`. */
  def meaning(key: Expression, rows: LogicalPlan): Expression = rows match {
    case aggregate: Aggregate => inlined(key, aggregate.aggregateExpressions)
    case _ => key
  }

  private def determines(value: Expression, group: Expression): Boolean = value match {
    case same if same.semanticEquals(group) => true
    case GetStructField(window: Attribute, _, _) =>
      isWindow(window) && window.semanticEquals(group)
    case PreciseTimestampConversion(
          Subtract(PreciseTimestampConversion(end: GetStructField, _, _), _: Literal, _),
          _,
          _) =>
      determines(end, group)
    case _ => false
  }

  /** The window of which a sort key is the start, the end or the whole. The start of a session
    * does not order sessions by their ends.
    */
  @tailrec private def windowOf(key: Expression, rows: LogicalPlan): Option[Attribute] =
    rows match {
      case Project(columns, child) => windowOf(inlined(key, columns), child)
      case node @ (_: Filter | _: SubqueryAlias | _: View | _: Deduplicate) =>
        windowOf(key, node.children.head)
      case over: Over => windowOf(key, over.child)
      case StoredColumns(child) => windowOf(ColumnsOfInput.in(key, child.output), child)
      case aggregate: Aggregate =>
        (inlined(key, aggregate.aggregateExpressions) match {
          case window: Attribute if window.metadata.contains(TimeWindow.marker) => Some(window)
          case GetStructField(window: Attribute, ordinal, _)
              if window.metadata.contains(TimeWindow.marker) || isWindow(
                window) && ordinal == 1 =>
            Some(window)
          case _ => None
        }).filter { window =>
          Watermarks.isOn(window) &&
          aggregate.groupingExpressions.exists(_.semanticEquals(window))
        }
      case _ => None
    }

  private def isWindow(column: Attribute): Boolean =
    column.metadata.contains(TimeWindow.marker) || column.metadata.contains(SessionWindow.marker)

  /** The time of the window functions directly below, if it is that of `window`. */
  @tailrec private def timeBelow(window: Attribute, rows: LogicalPlan): Option[Attribute] =
    rows match {
      case Project(_, child) => timeBelow(window, child)
      case SubqueryAlias(_, child) => timeBelow(window, child)
      case over: Over =>
        over.time.filter { time =>
          val meanings = over.child.collect { case Project(columns, _) => columns }.flatten
          meanings.exists {
            case alias: Alias => alias.exprId == time.exprId && alias.references.contains(window)
            case _ => false
          }
        }
      case _ => None
    }

  /** Adds the column of `window_time` to rows, where they still have the window. */
  private def withTime(key: Expression, rows: LogicalPlan): Option[Ordered] = rows match {
    case _ if windowIn(key).exists(rows.outputSet.contains) =>
      Some(added(windowIn(key).get, rows.output, rows))
    case Project(columns, child) =>
      withTime(inlined(key, columns), child).map { case Ordered(time, input) =>
        Ordered(time, Project(columns :+ time, input))
      }
    case Filter(condition, child) =>
      withTime(key, child).map(below => below.copy(input = Filter(condition, below.input)))
    case SubqueryAlias(name, child) =>
      withTime(key, child).map(below => below.copy(input = SubqueryAlias(name, below.input)))
    case view: View => withTime(key, view.child)
    case unique: Deduplicate =>
      withTime(key, unique.child).map { below =>
        below.copy(input = unique.withNewChildren(Seq(below.input)))
      }
    case over: Over =>
      // The operator has the time already, or passes on a column that its input gets.
      windowOf(key, over).flatMap(timeBelow(_, over)).flatMap { time =>
        over.output.find(_.exprId == time.exprId).map(Ordered(_, over))
      }
    case aggregate: Aggregate =>
      windowIn(inlined(key, aggregate.aggregateExpressions)).map { window =>
        val columns = aggregate.aggregateExpressions :+ window
        added(window, aggregate.output, aggregate.copy(aggregateExpressions = columns))
      }
    case _ => None
  }

  private def windowIn(key: Expression): Option[Attribute] = key match {
    case window: Attribute if isWindow(window) => Some(window)
    case GetStructField(window: Attribute, _, _) if isWindow(window) => Some(window)
    case _ => None
  }

  private def added(window: Attribute, columns: Seq[Attribute], rows: LogicalPlan): Ordered = {
    val end = GetStructField(window, 1)
    val last = Subtract(PreciseTimestampConversion(end, end.dataType, LongType), Literal(1L))
    val metadata = new MetadataBuilder()
      .withMetadata(window.metadata)
      .remove(TimeWindow.marker)
      .remove(SessionWindow.marker)
      .build()
    val time = Alias(
      PreciseTimestampConversion(last, LongType, end.dataType),
      s"window_time(${window.name})")(explicitMetadata = Some(metadata))
    Ordered(time.toAttribute, Project(columns :+ time, rows))
  }

  /** The expression with columns replaced by what they mean in a list. */
  private def inlined(expression: Expression, columns: Seq[NamedExpression]): Expression = {
    val meanings = columns.collect { case alias: Alias => alias.exprId -> alias.child }.toMap
    expression.transform {
      case column: Attribute if meanings.contains(column.exprId) => meanings(column.exprId)
    }
  }
}
