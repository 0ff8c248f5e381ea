package org.apache.spark.sql.winops.source

import java.util.UUID

import scala.util.Try

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, InputFileName, PlanExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{ExternalRDD, LogicalRDD}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2._
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.{OncePerRun, WinopsErrors}
import winops.spark.source.OrderOfTasks

/** Reads a table in the first micro-batch of a query, and the same rows if the micro-batch is run
  * again.
  */
object HistorySource extends Logging {
  private val DeltaPackage = "org.apache.spark.sql.delta."

  private val Redacted = "*********(redacted)"

  /** The number of the micro-batch that is planned in this thread; None outside of a query. */
  def batch: Option[Long] = property(MicroBatchExecution.BATCH_ID_KEY).map(_.toLong)

  /** The run of the query whose micro-batch is planned in this thread. */
  def query: Option[StreamExecution] = for {
    id <- property(StreamExecution.QUERY_ID_KEY)
    session <- SparkSession.getActiveSession
    query <- Option(session.sharedState.activeStreamingQueries.get(UUID.fromString(id)))
  } yield query

  private def property(name: String): Option[String] =
    SparkContext.getActive.flatMap(context => Option(context.getLocalProperty(name)))

  /** The error of a source of which later reads may have other rows, or of an expression that may
    * have other values; None for other tables.
    */
  def refusal(plan: LogicalPlan): Option[AnalysisException] = {
    val own = plan.collectWithSubqueries { case definition: CTERelationDef =>
      definition.id
    }.toSet
    val leaves = leavesOf(plan).filter {
      case reference: CTERelationRef => !own.contains(reference.cteId)
      case leaf => kindOf(leaf).isEmpty
    }
    (leaves.map(textOf).headOption orElse changing(plan)).map { source =>
      WinopsErrors.analysis("WINOPS_HISTORY_SOURCE", "source" -> source)
    }
  }

  /** A source with what it reads, such as the name of a table. */
  private def textOf(leaf: LeafNode): String = leaf match {
    case LogicalRelation(relation, _, _, _, _) =>
      // EXPLAIN redacts the text in the same way.
      val text = relation.toString
      val shown =
        SQLConf.get.stringRedactionPattern.fold(text)(_.replaceAllIn(text, Redacted))
      s"the source $shown"
    case relation: DataSourceV2Relation => s"the source ${relation.name}"
    case scan: DataSourceV2ScanRelation => s"the source ${scan.relation.name}"
    case other => s"the source ${other.nodeName}"
  }

  /** An expression or operator of a plan that has other values if it is computed again. */
  private def changing(plan: LogicalPlan): Option[String] = {
    def ofNode(isChanging: Expression => Boolean)(node: LogicalPlan): Seq[String] = node match {
      // The seed of a call without one is a part of the plan too.
      case sample: Sample => Seq(s"the operator ${sample.nodeName}")
      case other =>
        other.expressions.flatMap(_.collect {
          case own if isChanging(own) => s"the expression ${own.sql}"
        })
    }
    val ofAll = plan.collectWithSubqueries { case node => node }.flatMap(ofNode(isRandom))
    // Elsewhere the time is that of the micro-batch, which the checkpoint records.
    val ofSubqueries = plan.subqueriesAll.flatMap(_.flatMap(ofNode(isTime)))
    (ofAll ++ ofSubqueries).headOption
  }

  private def isRandom(expression: Expression): Boolean = expression match {
    case _: PlanExpression[_] | _: InputFileName => false
    case other => !other.deterministic && other.children.forall(_.deterministic)
  }

  private def isTime(expression: Expression): Boolean =
    expression.containsPattern(CURRENT_LIKE) &&
      expression.children.forall(!_.containsPattern(CURRENT_LIKE))

  /** Returns true if the rows of a plan are found again by a digest of all of them. */
  def needsDigest(plan: LogicalPlan): Boolean =
    leavesOf(plan).exists(kindOf(_).contains(Rows))

  private def leavesOf(plan: LogicalPlan): Seq[LeafNode] =
    plan.collectWithSubqueries { case leaf: LeafNode => leaf }

  /** Replaces the sources of a plan and of its subqueries whose rows are found again, always in
    * the same order.
    */
  private def replaced(plan: LogicalPlan)(replace: (LeafNode, Kind) => LogicalPlan): LogicalPlan =
    plan.transformUpWithSubqueries {
      case leaf: LeafNode if kindOf(leaf).isDefined => replace(leaf, kindOf(leaf).get)
    }

  /** The plan that reads the rows that are recorded, or records those that it reads. */
  def recorded(plan: LogicalPlan, record: HistoryRecord): LogicalPlan = {
    val kinds = Seq.newBuilder[Kind]
    val _ = replaced(plan) { (leaf, kind) =>
      kinds += kind
      leaf
    }
    val sources = kinds.result().map {
      case files: Files => files.current.map(RecordedFiles.line).sorted
      case delta: Delta => Seq(s"delta\t${delta.version}\t${delta.path}")
      case _ => Seq("rows")
    }
    val now = sources.zipWithIndex.flatMap { case (lines, i) => lines.map(line => s"$i\t$line") }
    val before = record.ofSource(now)
    val ofSources = before.map(_.split("\t", 2)).groupMap(_.head.toInt)(_.last)
    if (ofSources.keys.exists(_ >= sources.size)) {
      throw record.changed("the query had another table")
    }
    var next = -1
    replaced(plan) { (leaf, kind) =>
      next += 1
      kind.restricted(leaf, ofSources.getOrElse(next, Nil), record)
    }
  }

  /** The runs that were warned of files that are not read, with the warnings. Spark may plan a
    * micro-batch again.
    */
  private val warned = new OncePerRun

  private def warnOfUnread(files: Int, record: HistoryRecord): Unit = {
    val added = if (files == 1) "1 file" else s"$files files"
    val text =
      s"$added of the table of with_history will not be read: a micro-batch that is run again " +
        s"reads the files of the record in ${record.folder}, and these were added later. To read " +
        s"them too, ${record.renewal}."
    if (query.forall(run => warned.isFirst(run.runId.toString, text))) logWarning(text)
  }

  /** The way in which the rows of a source are found again. */
  private sealed trait Kind {
    def restricted(leaf: LeafNode, lines: Seq[String], record: HistoryRecord): LogicalPlan
  }

  /** By the digest of all rows. */
  private case object Rows extends Kind {
    override def restricted(
        leaf: LeafNode,
        lines: Seq[String],
        record: HistoryRecord): LogicalPlan =
      if (lines == Seq("rows")) leaf else throw record.changed("the query had another table")
  }

  /** By the list of the files. */
  private final class Files(index: => FileIndex, replaced: FileIndex => Option[LogicalPlan])
      extends Kind {
    def current: Seq[FileStatusWithMetadata] = RecordedFiles.of(index.listFiles(Nil, Nil))

    override def restricted(
        leaf: LeafNode,
        lines: Seq[String],
        record: HistoryRecord): LogicalPlan = {
      val now = current.map(RecordedFiles.line).toSet
      lines.find(!now.contains(_)).foreach { missing =>
        throw record.changed(s"the file ${RecordedFiles.path(missing)} is gone or was changed")
      }
      if (now.size == lines.size) leaf
      else {
        val recorded = replaced(new RecordedFiles(index, lines.toSet)).getOrElse {
          throw record.changed("files were added to the table")
        }
        warnOfUnread(now.size - lines.size, record)
        recorded
      }
    }
  }

  /** By the version of the Delta table. */
  private final class Delta(relation: HadoopFsRelation) extends Kind {
    private val index = relation.location

    def path: String = index.getClass.getMethod("path").invoke(index).toString

    def version: Long = {
      val snapshot = index.getClass.getMethod("getSnapshot").invoke(index)
      snapshot.getClass.getMethod("version").invoke(snapshot).asInstanceOf[Long]
    }

    override def restricted(
        leaf: LeafNode,
        lines: Seq[String],
        record: HistoryRecord): LogicalPlan = lines.map(_.split("\t", 3).toSeq) match {
      case Seq(Seq("delta", version, own)) if own == path =>
        val rows =
          try SparkSession.active.read.format("delta").option("versionAsOf", version).load(own)
          catch {
            case gone: AnalysisException =>
              throw record.changed(s"version $version of $own cannot be read: ${gone.getMessage}")
          }
        val plan = EliminateSubqueryAliases(rows.queryExecution.analyzed)
        Project(
          leaf.output.map { column =>
            val same = plan.output.find(_.name == column.name).getOrElse {
              throw record.changed(s"version $version of $own has no column ${column.name}")
            }
            Alias(same, column.name)(column.exprId)
          },
          plan)
      case _ => throw record.changed("the query had another table")
    }
  }

  private def kindOf(leaf: LeafNode): Option[Kind] = leaf match {
    case _ if leaf.isStreaming => None
    case LogicalRelation(relation: HadoopFsRelation, _, _, _, _)
        if relation.location.getClass.getName.startsWith(DeltaPackage) =>
      Option.when(Try(new Delta(relation).version).isSuccess)(new Delta(relation))
    case logical @ LogicalRelation(relation: HadoopFsRelation, _, _, _, _) =>
      Some(
        new Files(
          relation.location,
          files =>
            Some(
              logical.copy(relation = relation.copy(location = files)(relation.sparkSession)))))
    case DataSourceV2Relation(table: FileTable, _, _, _, _, _) =>
      Some(new Files(table.fileIndex, _ => None))
    case scan: DataSourceV2ScanRelation =>
      scan.relation.table match {
        case table: FileTable => Some(new Files(table.fileIndex, _ => None))
        case _ => None
      }
    case _: InMemoryRelation | _: LogicalRDD | _: ExternalRDD[_] => Some(Rows)
    case _ => Sources.order(leaf).collect { case OrderOfTasks(_) => Rows }
  }
}
