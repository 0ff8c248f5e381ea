package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RebalancePartitions, RepartitionOperation, Union}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

import winops.spark.internal.WinopsErrors
import winops.spark.over.{OverSettings, StreamOperators}
import winops.spark.plan.{AggMode, GroupedOperator, Keep, Output, Over, RealTimeSettings}

/** Refuses queries that cannot run in real-time mode, and settings that it does not have.
  *
  * A batch of real-time mode lasts for minutes, and rows are processed one by one in it: nothing
  * may wait for its end, and rows cannot be sorted.
  */
private[analysis] object CheckRealTime {

  /** The version of the state's format that real-time mode has. */
  private val Format = 2

  def apply(start: WriteToStreamStatement): Unit = {
    val operators = start.inputQuery.collect {
      case operator: GroupedOperator if operator.isStreaming => operator
    }
    operators.foreach(checkOperator)
    operators.headOption.map(_.spec.namedInQuery).foreach { operator =>
      if (start.outputMode != OutputMode.Update) {
        throw WinopsErrors.analysis(
          "WINOPS_REAL_TIME.OUTPUT_MODE",
          "operator" -> operator,
          "mode" -> start.outputMode.toString)
      }
      checkUnions(operator, start.inputQuery)
      checkPython(operator, start.inputQuery)
      checkSettings(operator)
    }
  }

  private def checkOperator(operator: GroupedOperator): Unit = {
    val name = operator.spec.namedInQuery
    if (operator.history.isDefined) {
      throw WinopsErrors.analysis("WINOPS_REAL_TIME.HISTORY", "operator" -> name)
    }
    if (operator.spec.rowsWait) {
      throw WinopsErrors.analysis(
        "WINOPS_REAL_TIME.EVENT_TIME",
        "operator" -> name,
        "expected" -> inOrderOfArrival(operator))
    }
    if (operator.spec.isCrossGroup) {
      throw WinopsErrors.analysis("WINOPS_REAL_TIME.CROSS_GROUP", "operator" -> name)
    }
    operator match {
      case keep: Keep if keep.spec.output == Output.Agg && keep.spec.mode == AggMode.Latest =>
        throw WinopsErrors.analysis("WINOPS_REAL_TIME.LATEST", "operator" -> name)
      case _ =>
    }
  }

  private def inOrderOfArrival(operator: GroupedOperator): String = operator match {
    case keep: Keep if keep.spec.usesTime =>
      "Apply them in the order of their arrival, with apply='arrival', in SQL apply => 'arrival'"
    case keep: Keep =>
      val order =
        if (keep.spec.order.nonEmpty) ""
        else ", and give order_by='column', in SQL ORDER BY (column) after the TABLE argument"
      s"The window does not use time, so omit time$order. If the query needs time, apply rows " +
        "in the order of their arrival, with apply='arrival', in SQL apply => 'arrival'"
    case _: Over =>
      s"Apply them in the order of their arrival: set ${OverSettings.ArrivalOrder} to true, " +
        "and begin ORDER BY with another column"
  }

  /** Refuses a union of several sides that are partitioned by columns. If they are partitioned
    * alike, by default Spark forms a partition of the union from one of each side. A single task
    * then reads the first side to the end of the batch before it reads the second one.
    */
  private def checkUnions(operator: String, query: LogicalPlan): Unit = {
    // The rows of the two inputs of a lookup are united below it.
    query.foreach {
      case keep: Keep if keep.isStreaming && keep.asking.isDefined =>
        if (keep.child.collectFirst { case union: Union => union }.exists(unitesPartitions)) {
          throw WinopsErrors
            .analysis("WINOPS_REAL_TIME.LOOKUP", "operator" -> keep.spec.namedInQuery)
        }
      case _ =>
    }
    if (query.exists(unitesPartitions)) {
      throw WinopsErrors.analysis("WINOPS_REAL_TIME.UNION", "operator" -> operator)
    }
  }

  private def unitesPartitions(node: LogicalPlan): Boolean = node match {
    case union: Union => union.children.count(_.exists(isPartitioned)) > 1
    case _ => false
  }

  private def isPartitioned(node: LogicalPlan): Boolean = node match {
    case _: RepartitionOperation | _: RebalancePartitions => node.isStreaming
    case _ => StreamOperators.haveState(node)
  }

  /** Refuses functions of Python, whose rows Spark passes in groups. */
  private def checkPython(operator: String, query: LogicalPlan): Unit =
    if (!RealTimeSettings.pythonFunctions(SQLConf.get)) {
      val names = for {
        node <- query.collect { case node if node.isStreaming => node }
        expression <- node.expressions
        name <- expression.collect { case function: PythonFuncExpression => function.name }
      } yield name
      names.headOption.foreach { name =>
        throw WinopsErrors.analysis(
          "WINOPS_REAL_TIME.PYTHON",
          "operator" -> operator,
          "function" -> name,
          "setting" -> RealTimeSettings.PythonFunctions)
      }
    }

  private def checkSettings(operator: String): Unit = {
    val settings = SQLConf.get
    val _ = RealTimeSettings.openGroups(settings)
    val _ = RealTimeSettings.onePartitionPerGroup(settings)
    // Without a value, Spark uses the right version in this mode.
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
    if (settings.contains(format) && settings.stateStoreCheckpointFormatVersion < Format) {
      throw WinopsErrors.analysis(
        "WINOPS_REAL_TIME.CHECKPOINT_FORMAT",
        "operator" -> operator,
        "setting" -> format,
        "version" -> settings.stateStoreCheckpointFormatVersion.toString,
        "expected" -> Format.toString)
    }
    if (settings.getConf(SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK)) {
      throw WinopsErrors.analysis(
        "WINOPS_REAL_TIME.ALLOWLIST",
        "operator" -> operator,
        "setting" -> SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK.key)
    }
  }
}
