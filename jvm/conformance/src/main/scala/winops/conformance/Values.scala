package winops.conformance

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.types._

import winops.policy.Policy
import winops.spark.aggregates.{GroupAggregates, CrossGroupAggregates}
import winops.spark.analysis.{Aggregates, WindowResults}
import winops.spark.row.RowBytes
import winops.storage.btree.Pages
import winops.storage.rows.RowStore
import winops.terms.Stream
import winops.window.machine.Machine

/** The values that a policy computes of its windows.
  *
  * @param group
  *   the columns of the group key, which are written beside a group's values
  */
private[conformance] final class Values(
    val policy: Policy,
    aggregates: Aggregates,
    group: Seq[Attribute],
    schema: Schema) {
  private val results =
    WindowResults.ofContent(
      if (acrossGroups) aggregates
      else aggregates.withoutKeys(group.map(key => key.name -> key)))

  /** Returns true if the values are cross-group. */
  def acrossGroups: Boolean = policy.projection.exists(_.acrossGroups)

  /** The changes that a machine must emit so that the values can be computed. */
  def stream: Stream = policy.stream.copy(inserts = true, deletes = true)

  /** Tracks the values of a window with the rows `rows`. */
  def of(rows: RowStore, pages: Pages): GroupAggregates =
    of(rows, pages, policy.leavesFromFront)

  /** Tracks the values over the windows of all groups. */
  def common(pages: Pages, open: () => CrossGroupAggregates.Group): CrossGroupAggregates =
    new CrossGroupAggregates(
      schema.attributes,
      rows => of(rows, pages, leavesFromFront = false, rows.contains),
      pages,
      open)

  private def of(
      rows: RowStore,
      pages: Pages,
      leavesFromFront: Boolean,
      isThere: Long => Boolean = _ => true): GroupAggregates =
    new GroupAggregates(
      results.values,
      results.by,
      schema.attributes,
      (row, ordinal) => RowBytes.pointTo(row, rows, ordinal),
      pages,
      leavesFromFront,
      keepsOldValues = true,
      postsOnSizeChange = policy.projection.exists(_.postsOnSizeChange),
      isThere = isThere)

  /** Writes values as JSON objects, if the policy emits inserts or deletes respectively. */
  def write(value: Value, inserted: ArrayNode, removed: ArrayNode): Unit = {
    if (policy.stream.inserts) write(value.key, value.now, inserted)
    if (policy.stream.deletes) write(value.key, value.before, removed)
  }

  private def write(key: UnsafeRow, values: UnsafeRow, list: ArrayNode): Unit = {
    val json = list.addObject()
    if (!acrossGroups) write(group, key, json)
    write(results.columns, values, json)
  }

  private def write(columns: Seq[Attribute], row: InternalRow, json: ObjectNode): Unit =
    columns.zipWithIndex.foreach { case (column, i) =>
      if (row.isNullAt(i)) json.putNull(column.name)
      else {
        column.dataType match {
          case LongType => json.put(column.name, row.getLong(i))
          case IntegerType => json.put(column.name, row.getInt(i))
          case DoubleType => json.put(column.name, row.getDouble(i))
          case other => json.put(column.name, row.get(i, other).toString)
        }
      }
    }
}

/** The values of a group before and after a step. */
private[conformance] final case class Value(key: UnsafeRow, before: UnsafeRow, now: UnsafeRow)
