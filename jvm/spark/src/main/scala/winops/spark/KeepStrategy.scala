package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, If, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project, Union}
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.ui.OperatorMetricsPage
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.winops.checkpoint.{MovedCheckpoint, MovedCheckpointExec, RestartPlanExec, RestartPlanRelation, StoredWaitingRows, StoredWaitingRowsExec}
import org.apache.spark.sql.winops.execution.{HistoryInput, StatefulKeepExec}
import org.apache.spark.sql.winops.source.{FilePosition, FilePositionExec}

import winops.spark.analysis.{CheckHistory, KeepDescriber}
import winops.spark.checkpoint.StoredKeep
import winops.spark.execution.{BatchKeepExec, NewestRowsExec, UnsharedExec}
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.{GroupedOperator, Keep}
import winops.spark.source.{AnyOrder, OrderOfTasks, Positioned, SourceOrder, StoredColumns, UnorderedRows, WithHistory}

/** Plans the operators and the other nodes of winops. Expressions that group and order the rows
  * are computed once, below the shuffle.
  */
object KeepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case operator: GroupedOperator if operator.isStreaming =>
      if (operator.spec.flushesAtEnd) checkEnd(operator)
      OperatorMetricsPage.install((KeepMetrics.inProgress ++ KeepMetrics.inRealTime).toMap)
      val input = inputOf(operator)
      StatefulKeepExec(
        operator.plan(input.keys, input.positions, input.ofHistory),
        KeepDescriber.text(operator),
        hasNewRows(operator.child),
        Option.when(FirstBatches.mayBeCurrent)(StoredKeep),
        operator.history.map { table =>
          HistoryInput(table.emits, table.record, table.replaced.map(_.times)) ->
            planLater(HistoryInput.figures(table, operator))
        },
        UnsharedExec(NamedExpression.newExprId.id, input.plan)) :: Nil
    case keep: Keep =>
      val input = inputOf(keep)
      val plan = keep.plan(input.keys, input.positions)
      val rows =
        keep.spec.newestRows.fold[SparkPlan](input.plan)(NewestRowsExec(plan, _, input.plan))
      BatchKeepExec(plan, keep.end, rows) :: Nil
    case FilePosition(position, child, isRequired, byAge) =>
      FilePositionExec(position, isRequired, byAge, planLater(child)) :: Nil
    case StoredColumns(child) => planLater(child) :: Nil
    case UnorderedRows(child) => planLater(child) :: Nil
    case _: WithHistory => throw CheckHistory.notStarted
    case rows: StoredWaitingRows => StoredWaitingRowsExec(rows) :: Nil
    case moved: MovedCheckpoint => MovedCheckpointExec(moved) :: Nil
    case restart: RestartPlanRelation => RestartPlanExec(restart) :: Nil
    case _ => Nil
  }

  /** The input of an operator, with the columns that group and order its rows. */
  private final case class Input(
      keys: Seq[Attribute],
      positions: Seq[Attribute],
      ofHistory: Option[Attribute],
      plan: SparkPlan)

  private def inputOf(operator: GroupedOperator): Input = {
    val keys = operator.keys
    val computed = keys.collect { case alias: Alias => alias }
    val (child, positions, ofHistory) = operator.history match {
      case Some(table) => afterHistory(operator, table)
      case None =>
        val (child, positions) = positioned(operator, operator.child, operator.isStreaming)
        (child, positions, None)
    }
    val columns = operator.child.output ++ computed ++ positions ++ ofHistory
    Input(
      keys.map(_.toAttribute),
      positions.map(_.toAttribute),
      ofHistory,
      ProjectExec(columns, planLater(child)))
  }

  /** The rows of a table, those that have waited in a state that it replaces, and those of the
    * stream, with columns that order them, and that of [[OperatorPlan.ofHistory]].
    */
  private def afterHistory(
      operator: GroupedOperator,
      table: WithHistory): (LogicalPlan, Seq[Attribute], Option[Attribute]) = {
    val (stream, ofStream) = positioned(operator, table.stream, byAge = true)
    val (rows, ofTable) =
      if (ofStream.isEmpty) (table.history, Nil)
      else positioned(operator, table.history, byAge = false)
    val (types, typesOfTable) = (ofStream.map(_.dataType), ofTable.map(_.dataType))
    val isShared = types == typesOfTable || ofTable.isEmpty
    val waiting = table.replaced.flatMap(_.waiting)
    // Rows that have waited precede those of the stream, with a negative number.
    val number = if (waiting.isEmpty || ofStream.isEmpty) Nil else Seq(Literal(0L))
    val positions = (number ++ ofStream ++
      (if (isShared) Nil else typesOfTable.map(Literal(null, _)))).map(SourceOrder.named)
    val missing = types.map(Literal(null, _))
    val positionsOfTable =
      (number ++
        (if (ofTable.isEmpty) missing else if (isShared) ofTable else missing ++ ofTable))
        .map(SourceOrder.named)
    val ofHistory = Alias(Literal(false), "_of_history")()
    val others = waiting.toSeq.map { rows =>
      val (own, added) = rows.output.splitAt(table.stream.output.size)
      val positionsOfWaiting =
        (number.map(_ => added.head) ++
          positions.drop(number.size).map(column => Literal(null, column.dataType)))
          .map(SourceOrder.named)
      val flag = Alias(If(added.last, added.last, Literal(null, BooleanType)), "_of_history")()
      Project(own ++ positionsOfWaiting :+ flag, rows)
    }
    val union = Union(
      Seq(
        Project(table.stream.output ++ positions :+ ofHistory, stream),
        Project(
          table.history.output ++ positionsOfTable :+ Alias(Literal(true), "_of_history")(),
          rows)) ++ others)
    val flag = ofHistory.toAttribute.withNullability(waiting.isDefined)
    (union, positions.map(_.toAttribute), Some(flag))
  }

  /** Returns true if a source of the stream has new rows for the micro-batch. Spark replaces a
    * source without new rows by an empty relation.
    */
  private def hasNewRows(stream: LogicalPlan): Boolean = stream.collectLeaves().exists {
    case rows: LocalRelation => rows.isStreaming && rows.data.nonEmpty
    case source => source.isStreaming
  }

  /** Refuses sources that do not support the trigger `availableNow` if Spark's wrapper for such
    * sources is off. Spark then reads all rows in one micro-batch and runs no further one, in
    * which waiting rows could be applied.
    */
  private def checkEnd(operator: GroupedOperator): Unit =
    if (!SQLConf.get.getConf(SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED)) {
      operator.child.foreach {
        case source: StreamingDataSourceV2ScanRelation
            if !source.stream.isInstanceOf[SupportsTriggerAvailableNow] =>
          throw WinopsErrors.analysis(
            "WINOPS_AT_END",
            "argument" -> operator.spec.words.flush,
            "without" -> operator.spec.words.noFlush,
            "reason" ->
              s"the source ${source.relation.name} does not support the trigger availableNow",
            "expected" ->
              s"Set ${SQLConf.STREAMING_TRIGGER_AVAILABLE_NOW_WRAPPER_ENABLED.key} to true")
        case _ =>
      }
    }

  /** The rows of an operator, and the expressions that order them as their source does.
    *
    * @param byAge
    *   true if rows of an older file precede those of a newer one
    */
  private def positioned(
      operator: GroupedOperator,
      rows: LogicalPlan,
      byAge: Boolean): (LogicalPlan, Seq[NamedExpression]) =
    SourceOrder.of(rows) match {
      case Right(OrderOfTasks(_)) if operator.followsSource =>
        (rows, Seq(SourceOrder.numberInTasks()))
      // The optimizer removes the ordered rows from a union in a micro-batch without such rows.
      // Rows that wait have the order of their positions in this micro-batch, too.
      case Right(AnyOrder(_)) if operator.followsSource =>
        (rows, Seq(SourceOrder.named(Literal(0L))))
      case Right(order) if operator.followsSource =>
        val Positioned(plan, positions, isUnique, _) = order.positioned
        val checked = plan.transform { case files: FilePosition =>
          files.copy(isRequired = operator.spec.needsSourceOrder, byAge = byAge)
        }
        (checked, if (isUnique) positions else positions :+ SourceOrder.numberInTasks())
      case Left(below) if operator.spec.needsSourceOrder =>
        throw SourceOrder.required(below.nodeName)
      // Files that are cached have lost the order that they had when the call was resolved.
      case _ => (rows, Nil)
    }
}
