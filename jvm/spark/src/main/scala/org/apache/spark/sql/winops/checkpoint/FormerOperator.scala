package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StringType, TimestampType}

import winops.spark.checkpoint.StoredKeep
import winops.spark.group.BatchTimes
import winops.spark.plan.GroupedOperator
import winops.spark.restart.FormerColumn
import winops.spark.row.Micros
import winops.spark.source.{FormerTimes, ReplacedState}
import winops.spark.state.{PartitionSummary, StateErrors, StateGroupStore, StateIdentity}

/** An operator as a micro-batch has left it.
  *
  * @param batch
  *   the number of the micro-batch
  */
private[checkpoint] final class FormerOperator(
    checkpoint: Checkpoint,
    keep: OperatorStateMetadataV2,
    batch: Long) {
  private val identity = keep.operatorPropertiesJson
  private lazy val stores = checkpoint.stores(keep, batch)
  private val ids = checkpoint.stateIds(keep.operatorInfo.operatorId, batch)
  private val partitions = keep.stateStoreInfo.head.numPartitions

  private val keys = StateGroupStore.keysIn(checkpoint.entryKeys(keep))

  /** The summaries of some partitions. */
  def summaries(some: Range = 0 until partitions): Seq[PartitionSummary] = {
    val (stores, batch, ids, keys) = (this.stores, this.batch, this.ids, this.keys)
    SparkSession.active.sparkContext
      .parallelize(some, some.size)
      .mapPartitions(_.flatMap { partition =>
        stores.read(partition, batch, ids.map(_(partition))) { store =>
          StateErrors.translated {
            PartitionSummary.of(StateGroupStore.readOnly(store, keys).partition).iterator
          }
        }
      })
      .collect()
      .toSeq
  }

  /** The summary of a partition, whose times and `idle` are those of all; None without state. */
  lazy val summary: Option[PartitionSummary] = summaries(0 until 1).headOption

  /** The rows from which a table forms the state, in English. */
  def rowsOfTable(now: String): String = timeBy(now).fold("all rows of the table") { _ =>
    applied match {
      case Long.MinValue => "the rows that wait"
      case until =>
        val instant = Literal(until, TimestampType)
        val text = Cast(instant, StringType, Some(SQLConf.get.sessionLocalTimeZone)).eval()
        s"the rows of the table before $text"
    }
  }

  /** The time column by which the rows have been applied, if the query has it with its type. */
  private def timeBy(now: String): Option[FormerColumn] = for {
    time <- StateIdentity.timeOfWaiting(identity)
    own <- StateIdentity
      .former(identity, now)
      .find(column => column.field.name == time && column.hasSameType)
  } yield own

  /** Returns what a query takes over if a table replaces the state.
    *
    * @param now
    *   the identity of the query
    */
  def replacedBy(operator: GroupedOperator, now: String): ReplacedState = {
    val columns = StateIdentity.former(identity, now)
    val place = timeBy(now).map(_.place)
    val stream = operator.child.output
    val history = summary.flatMap(_.history).filter(_.isSilent)
    val passed = Option.when(StateIdentity.hasTime(identity)) {
      (summary.map(_.passed) ++ history.map(_.silentUntil)).maxOption.getOrElse(Long.MinValue)
    }
    ReplacedState(
      place.map { column =>
        val attribute = operator.content(column)
        (stream.indexWhere(_.exprId == attribute.exprId), applied)
      },
      FormerTimes(passed, history.map(_.end)),
      place.map(_ => waiting(operator, columns)))
  }

  /** The time in microseconds before which all rows have been applied. */
  private def applied: Long =
    summary.filter(_.passed != Long.MinValue).fold(Long.MinValue) { found =>
      Micros.of(found.passed) + (if (found.isFlushed) BatchTimes.OneMilli else 0L)
    }

  /** The rows that wait, as rows of the query. */
  private def waiting(operator: GroupedOperator, columns: Seq[FormerColumn]): LogicalPlan = {
    val content = operator.content
    val stored = columns.map { column =>
      // Values of a user-defined type are stored as those of another type, with equal bytes.
      val as = if (column.isSame) content(column.place).dataType else column.field.dataType
      AttributeReference(column.field.name, as)()
    }
    val rows =
      StoredWaitingRows(
        StoredKeep(identity, stores.entryKeys),
        stores,
        batch,
        ids,
        partitions,
        stored)
    def value(column: Attribute, place: Int): Expression = {
      val missing = operator.spec.restart.valueIn(column)
      columns.zip(stored).find(_._1.place == place).fold(missing) { case (former, own) =>
        Some(former.valueIn(own, column.dataType)).filter(_.resolved).getOrElse(missing)
      }
    }
    val ofStream = operator.child.output.map { column =>
      content.indexWhere(_.exprId == column.exprId) match {
        case -1 => rows.sourcePartition.getOrElse(Literal(null, column.dataType))
        case place => value(column, place)
      }
    }
    val named = ofStream.zip(operator.child.output).map { case (value, column) =>
      Alias(value, column.name)()
    }
    Project(named :+ rows.number :+ rows.ofHistory, rows)
  }
}
