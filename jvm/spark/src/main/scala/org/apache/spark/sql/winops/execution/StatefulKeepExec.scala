package org.apache.spark.sql.winops.execution

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LogicalGroupState
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning, UnspecifiedDistribution}
import org.apache.spark.sql.execution.{LocalTableScanExec, SparkPlan}
import org.apache.spark.sql.execution.streaming.operators.stateful._
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.streaming.{GroupStateTimeout, OutputMode, StateOperatorProgress}
import org.apache.spark.sql.winops.shuffle.PackedShuffle
import org.apache.spark.util.CompletionIterator

import winops.spark.execution.{GroupSizesAccumulator, NextTimerAccumulator, PartitionMetricsAccumulator, RowArrival, StoredTask}
import winops.spark.group.BatchTimes
import winops.spark.internal.{KeepMetrics, OncePerRun}
import winops.spark.live.LiveQueries
import winops.spark.plan.{KeepPlan, OperatorPlan, StoredPlans}
import winops.spark.row.KeyText
import winops.spark.state.{LargestGroups, StateGroupStore, StateIdentity}

/** The streaming operator of a `keep` or of window functions.
  *
  * Spark provides operator ids, state and watermarks only to its own operators, which it finds by
  * class, and sets them by calling the virtual method `copy`. This class therefore extends
  * `FlatMapGroupsWithStateExec` and overrides all of its behavior.
  *
  * @param plan
  *   what the tasks execute
  * @param identity
  *   the [[StateIdentity]] of the plan, with which its state is stored
  * @param flushes
  *   true in a micro-batch without new rows, if the query applies waiting rows at the end of
  *   input
  * @param description
  *   what the operator does, in English
  * @param parser
  *   parses the plan of the query that stored the state, in a micro-batch that may have the state
  *   of another query
  * @param history
  *   the table that is read in this micro-batch before the rows of the stream
  * @param figures
  *   the plan of the [[HistoryFigures]] of that table; an empty table without one
  * @param input
  *   the plan of the input rows
  */
final class StatefulKeepExec private[winops] (
    plan: OperatorPlan,
    identity: String,
    flushes: Boolean,
    description: String,
    parser: Option[StoredPlans.Parser],
    info: Option[StatefulOperatorStateInfo],
    batchTimestamp: Option[Long],
    lateWatermark: Option[Long],
    watermark: Option[Long],
    history: Option[HistoryInput],
    figures: SparkPlan,
    input: SparkPlan)
    extends FlatMapGroupsWithStateExec(
      StatefulKeepExec.noFunction,
      null,
      null,
      null,
      plan.keys,
      Nil,
      Nil,
      Nil,
      plan.content.head,
      info,
      null,
      StatefulKeepExec.ParentStateFormat,
      OutputMode.Append,
      GroupStateTimeout.NoTimeout,
      batchTimestamp,
      lateWatermark,
      watermark,
      figures,
      false,
      false,
      input) {
  private val arguments = Array[Any](
    plan,
    identity,
    flushes,
    description,
    parser,
    info,
    batchTimestamp,
    lateWatermark,
    watermark,
    history,
    figures,
    input)
  private lazy val keySchema = StateGroupStore.keySchema(plan.keys)

  override lazy val stateManager = null

  override def nodeName: String = plan.spec.nodeName
  override def shortName: String = StatefulKeepExec.OperatorName
  override def output: Seq[Attribute] = plan.output
  override def producedAttributes: AttributeSet = AttributeSet(plan.changeColumns)
  override lazy val references: AttributeSet = child.outputSet
  override def simpleString(maxFields: Int): String = plan.simpleString

  override def verboseStringWithOperatorId(): String =
    plan.verboseString(formattedNodeName)

  override def requiredChildDistribution: Seq[Distribution] = {
    val grouped =
      if (plan.spec.runsInOneTask) AllTuples
      else StatefulOperatorPartitioning.getCompatibleDistribution(plan.keys, getStateInfo, conf)
    grouped :: UnspecifiedDistribution :: Nil
  }

  /** The way in which rows arrive, which follows from the plan below. */
  private lazy val arrival: RowArrival = RealTime.arrival(plan.spec.namedInQuery, child)

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    (if (arrival.isSorted) plan.inputOrder else Nil) :: Nil :: Nil
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def copy(
      func: (Any, Iterator[Any], LogicalGroupState[Any]) => Iterator[Any] = func,
      keyDeserializer: Expression = keyDeserializer,
      valueDeserializer: Expression = valueDeserializer,
      initialStateDeserializer: Expression = initialStateDeserializer,
      groupingAttributes: Seq[Attribute] = groupingAttributes,
      initialStateGroupAttrs: Seq[Attribute] = initialStateGroupAttrs,
      dataAttributes: Seq[Attribute] = dataAttributes,
      initialStateDataAttrs: Seq[Attribute] = initialStateDataAttrs,
      outputObjAttr: Attribute = outputObjAttr,
      stateInfo: Option[StatefulOperatorStateInfo] = stateInfo,
      stateEncoder: ExpressionEncoder[Any] = stateEncoder,
      stateFormatVersion: Int = stateFormatVersion,
      outputMode: OutputMode = outputMode,
      timeoutConf: GroupStateTimeout = timeoutConf,
      batchTimestampMs: Option[Long] = batchTimestampMs,
      eventTimeWatermarkForLateEvents: Option[Long] = eventTimeWatermarkForLateEvents,
      eventTimeWatermarkForEviction: Option[Long] = eventTimeWatermarkForEviction,
      initialState: SparkPlan = initialState,
      hasInitialState: Boolean = hasInitialState,
      skipEmittingInitialStateKeys: Boolean = skipEmittingInitialStateKeys,
      child: SparkPlan = child): FlatMapGroupsWithStateExec =
    new StatefulKeepExec(
      plan,
      identity,
      flushes,
      description,
      parser,
      stateInfo.map(withOwnPartitions),
      batchTimestampMs,
      eventTimeWatermarkForLateEvents,
      eventTimeWatermarkForEviction,
      history,
      initialState,
      child)

  // Spark's operator replaces its second child only if that is an initial state.
  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): FlatMapGroupsWithStateExec =
    copy(child = newLeft, initialState = newRight)

  /** Sets the number of partitions to 1 if a single task runs. Spark waits for the commits of as
    * many state stores as the number says.
    */
  private def withOwnPartitions(state: StatefulOperatorStateInfo): StatefulOperatorStateInfo =
    if (plan.spec.runsInOneTask) state.copy(numPartitions = 1) else state

  // Spark copies and compares trees by these members, so they must match this class's
  // constructor.
  override def productArity: Int = arguments.length
  override def productElement(n: Int): Any = arguments(n)
  override def productIterator: Iterator[Any] = arguments.iterator
  override def canEqual(other: Any): Boolean = other.isInstanceOf[StatefulKeepExec]

  override def equals(other: Any): Boolean = other match {
    case that: StatefulKeepExec => productIterator.sameElements(that.productIterator)
    case _ => false
  }

  override def hashCode(): Int = scala.util.hashing.MurmurHash3.seqHash(arguments.toSeq)

  /** The output watermark. A row at exactly the watermark of the rows still waits, so operators
    * of Spark above must not count it as late. A `keep` above does not, and corrects the
    * watermark.
    */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] =
    Some(Math.max(0L, ofRows(inputWatermarkMs) - 1L))

  private lazy val rowWatermark: RowWatermark = RowWatermark.of(child)

  /** The watermark of the input rows, if Spark computes `sparks`; 0 stands for none. */
  private def ofRows(sparks: Long): Long =
    if (sparks > 0) sparks + rowWatermark.aheadOfSpark else 0L

  private lazy val earliestDue: NextTimerAccumulator = {
    val accumulator = new NextTimerAccumulator
    sparkContext.register(accumulator)
    accumulator
  }

  /** Returns true if a timer fires at the new watermark or, without a time column, at the current
    * time, or if waiting rows need a flush. The wall clock decides only about running a
    * micro-batch, never about the time of a row. It is slightly ahead of the batch timestamp, so
    * a micro-batch may run too early, do nothing, and be followed by another one.
    */
  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean =
    if (plan.time.isDefined) {
      startsFlush ||
      newInputWatermark > watermark.getOrElse(0L) &&
      // A flush also applies the rows at the watermark.
      earliestDue.value <= ofRows(newInputWatermark) + (if (flushes) 1 else 0)
    } else earliestDue.value <= System.currentTimeMillis()

  /** Returns true after a micro-batch that leaves rows waiting and may be the last one with rows.
    * A micro-batch without rows then determines how far the watermark must move.
    */
  private def startsFlush: Boolean =
    plan.spec.flushesAtEnd && !flushes && longMetric(KeepMetrics.Waiting).value > 0

  override protected def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] =
    KeepMetrics.own.map { case (name, text) => StatefulOperatorCustomSumMetric(name, text) }

  private lazy val groupSizes: GroupSizesAccumulator = {
    val accumulator = new GroupSizesAccumulator
    sparkContext.register(accumulator)
    accumulator
  }

  private lazy val partitionMetrics: PartitionMetricsAccumulator = {
    val accumulator = new PartitionMetricsAccumulator
    sparkContext.register(accumulator)
    accumulator
  }

  /** The metrics of the micro-batch. Spark calls this method once after the micro-batch, for each
    * operator in the order of the progress; the live view of the query learns from it what the
    * operators do.
    */
  override def getProgress(): StateOperatorProgress = {
    // Spark's metrics have added up all runs of a micro-batch that foreachBatch ran repeatedly.
    val counted = partitionMetrics.value
    (counted - StatefulKeepExec.Overlapping).foreach { case (name, value) =>
      longMetric(name).set(value)
    }
    val progress = super.getProgress()
    counted.get(StatefulKeepExec.Overlapping).filter(_ > 0).foreach(warnOfOverlap)
    val sizes = groupSizes.value
    (arrival.reported + (KeepMetrics.LargestGroup -> sizes.rows)).foreach { case (name, value) =>
      progress.customMetrics.put(name, Long.box(value))
    }
    for (live <- LiveQueries.of(sparkContext); state <- info) {
      live.described(
        state.queryRunId,
        state.operatorId,
        plan.spec.title,
        description,
        sizes.groups,
        state.storeVersion)
    }
    progress
  }

  private def warnOfOverlap(rows: Long): Unit =
    for (state <- info) {
      if (StatefulKeepExec.warned.isFirst(state.queryRunId.toString, state.operatorId)) {
        logWarning(
          s"$rows rows of the stream in micro-batch ${state.storeVersion} are older than the " +
            "rows that it starts with, by more than the delay of withWatermark, and were dropped " +
            "as late. If the table has them too, name the first time of the stream in until of " +
            "with_history; otherwise give withWatermark a longer delay. Later micro-batches of " +
            s"this run count such rows in ${KeepMetrics.Late}, without a warning.")
      }
    }

  override def operatorStateMetadataVersion: Int = KeepMetadata.Version

  override def operatorStateMetadata(schemaPaths: List[List[String]]): OperatorStateMetadata =
    metadata.planned(
      session.sessionState.newHadoopConf(),
      getStateInfo.storeVersion,
      schemaPaths.head)

  // The schema and the metadata are checked together, before.
  override def validateNewMetadata(
      before: OperatorStateMetadata,
      now: OperatorStateMetadata): Unit = ()

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] =
    metadata.checkSchema(hadoopConf, batchId)

  private def metadata: KeepMetadata =
    new KeepMetadata(
      shortName,
      plan,
      identity,
      plan.spec.restart.copy(
        hasHistory = history.isDefined,
        isAbove = child.exists(_.isInstanceOf[StatefulKeepExec])),
      getStateInfo,
      stateSchemaDirPath(),
      session,
      text => logWarning(text))

  /** The plan with that of the query whose rows may enter another window. Prepares the state of
    * another query for the tasks.
    */
  private def planOfTasks(): OperatorPlan = {
    val former = for {
      parser <- parser
      before <- metadata.begin(session.sessionState.newHadoopConf(), getStateInfo.storeVersion)
      if StateIdentity.plan(before, identity, plan.spec.restart).carries
    } yield parser.parse(before, plan.keys)
    plan match {
      case keep: KeepPlan =>
        keep.copy(spec = keep.spec.copy(restart = keep.spec.restart.copy(former = former)))
      case over => over
    }
  }

  /** The times of the micro-batch.
    *
    * @param table
    *   the figures of the table that is read before the rows of the stream
    */
  private def timesOf(table: Option[HistoryFigures]): BatchTimes = {
    val times =
      if (plan.time.isEmpty) BatchTimes.ofBatch(batchTimestamp.get)
      else {
        val reached = table.fold(0L)(_.watermark)
        def atLeast(sparks: Option[Long]): Long = Math.max(ofRows(sparks.getOrElse(0L)), reached)
        val times = BatchTimes.ofWatermarks(
          atLeast(lateWatermark),
          atLeast(watermark),
          rowWatermark.passedAtEnd)
        if (flushes) times.atEnd else times
      }
    times.copy(history = table.map(_.times))
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val ofTable = history.map(HistoryFigures.read(_, initialState, child))
    if (history.exists(_.former.isDefined)) ofTable.foreach(table => logWarning(table.warning))
    val times = timesOf(ofTable)
    val flushed = Option.when(flushes)(FlushWatermark.of(child, rowWatermark))
    val columns = child.output
    val ofTasks = planOfTasks()
    val identity = this.identity
    val taskMetrics = metrics
    val ofPartitions = partitionMetrics
    val due = earliestDue
    val sizes = groupSizes
    val shownGroups = LiveQueries.of(sparkContext).fold(0)(_.shownGroups)
    val keyText = new KeyText(plan.keys, conf.sessionLocalTimeZone)
    val arrival = this.arrival
    arrival.register(sparkContext)
    val commitTime = longMetric("commitTimeMs")
    val updateTime = longMetric("allUpdatesTimeMs")
    val updated = longMetric("numUpdatedStateRows")
    val removed = longMetric("numRemovedStateRows")
    StatefulKeepExec
      .withoutReadStore(PackedShuffle.execute(child))
      .mapPartitionsWithStateStore[InternalRow](
        getStateInfo,
        keySchema,
        StateGroupStore.valueSchema,
        NoPrefixKeyStateEncoderSpec(keySchema),
        session.sessionState,
        Some(StatefulKeepExec.coordinator)) { (store, rows) =>
        val started = System.nanoTime
        val largest = new LargestGroups(shownGroups)
        val counted = KeepMetrics.ofPartition(taskMetrics)
        val counters = new KeepMetrics(counted)
        val task = new StoredTask(
          ofTasks,
          identity,
          columns,
          arrival.rows(ofTasks, columns, rows),
          times,
          store,
          counters,
          largest)
        val (groups, partition) = (task.groups, task.partition)
        CompletionIterator[InternalRow, Iterator[InternalRow]](
          task.output, {
            task.save()
            // A task may run several partitions, whose values are counted one by one.
            val before = taskMetrics.view.mapValues(_.value).toMap
            updateTime += NANOSECONDS.toMillis(System.nanoTime - started)
            commitTime += timeTakenMs(store.commit())
            due.add(Math.min(partition.earliestDue, task.output.earliestDue))
            flushed.foreach(_.requestAt(task.output.lastWaiting))
            sizes.add(largest.sizes(keyText.of))
            counters.held += partition.rowsHeld
            counters.waiting += partition.rowsWaiting
            counters.groups += partition.groupsRemembered
            updated += groups.entriesPut
            removed += groups.entriesRemoved + task.entriesCleared
            counters.entriesRead += groups.entriesRead
            counters.entriesWritten +=
              groups.entriesPut + groups.entriesRemoved + task.entriesCleared
            counters.bytesRead += groups.bytesRead
            counters.bytesWritten += groups.bytesWritten
            val overlapping = if (task.followsHistory) counters.late.value else 0L
            counted.foreach { case (name, metric) => taskMetrics(name) += metric.value }
            setStoreMetrics(store)
            setOperatorMetrics()
            ofPartitions.add(
              store.id.partitionId -> taskMetrics
                .map { case (name, metric) =>
                  name -> (metric.value - before(name))
                }
                .updated(StatefulKeepExec.Overlapping, overlapping))
          })
      }
  }
}

object StatefulKeepExec {
  val OperatorName = "keep"

  private val ParentStateFormat = 2

  /** The name of the number of late rows that are as old as rows of the table. It is no metric
    * that Spark shows.
    */
  private val Overlapping = "rowsOverlappingHistory"

  private val warned = new OncePerRun
  private val noFunction: (Any, Iterator[Any], LogicalGroupState[Any]) => Iterator[Any] = null

  /** Creates the operator.
    *
    * @param description
    *   what the operator does, in English
    * @param hasNewRows
    *   true if the sources of the stream have new rows for the micro-batch
    * @param parser
    *   parses the plan of the query that stored the state, in a micro-batch that may have the
    *   state of another query
    * @param history
    *   the table that is read before them, and the plan of its figures
    */
  def apply(
      plan: OperatorPlan,
      description: String,
      hasNewRows: Boolean,
      parser: Option[StoredPlans.Parser],
      history: Option[(HistoryInput, SparkPlan)],
      input: SparkPlan): StatefulKeepExec = new StatefulKeepExec(
    plan,
    StateIdentity.of(plan),
    plan.spec.flushesAtEnd && !hasNewRows && history.isEmpty,
    description,
    parser,
    None,
    None,
    None,
    None,
    history.map(_._1),
    history.fold[SparkPlan](LocalTableScanExec(Nil, Nil, None))(_._2),
    input)

  /** The coordinator that the start of the query has created. A micro-batch's session is a clone
    * made for a run of the query, and accessing its streaming query manager would leave another
    * listener in the context after each run.
    */
  private def coordinator: StateStoreCoordinatorRef =
    StateStoreCoordinatorRef.forExecutor(SparkEnv.get)

  /** Clears the read store of the thread. A stateful operator of Spark's below this one leaves
    * its store there, and the next operator would use it as its own.
    */
  private def withoutReadStore(rows: RDD[InternalRow]): RDD[InternalRow] =
    rows.mapPartitions { partition =>
      StateStoreThreadLocalTracker.clearStore()
      partition
    }
}
