package winops.spark.group

import java.util

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.expressions.PolicyExpression
import winops.spark.plan.KeepPlan
import winops.terms.RowOperation

/** Reads what rows with a primary key do.
  *
  * @param ordinal
  *   the ordinal of the column of the operation in a row; -1 if there is none
  * @param keys
  *   the ordinals of the key's columns
  */
final class RowOperations(ordinal: Int, keys: Array[Int]) {
  private val known = new util.HashMap[UTF8String, Integer]

  /** The operation of a row, one of [[winops.terms.RowOperation]]. */
  def of(row: UnsafeRow): Int =
    if (ordinal < 0) RowOperation.Upsert
    else if (row.isNullAt(ordinal)) RowOperation.Unknown
    else {
      val word = row.getUTF8String(ordinal)
      val found = known.get(word)
      if (found != null) found.intValue else read(word)
    }

  /** The index of the first column of the key that is NULL; -1 if none is. */
  def missingKey(row: UnsafeRow): Int = keys.indexWhere(row.isNullAt(_))

  private def read(word: UTF8String): Int = {
    val operation = RowOperation.of(word.toString)
    if (operation != RowOperation.Unknown && known.size < RowOperations.MostKnown) {
      val _ = known.put(word.copy(), operation)
    }
    operation
  }
}

object RowOperations {

  /** Words in several cases are remembered up to this number. */
  private val MostKnown = 64

  def of(plan: KeepPlan): RowOperations = {
    val keys = plan.spec.policy.key.map { key =>
      plan.expressions
        .collectFirst { case PolicyExpression(_, `key`, column) => column.references.head }
        .fold(-1)(column => plan.content.indexWhere(_.exprId == column.exprId))
    }
    new RowOperations(plan.operationOrdinal, keys.toArray)
  }
}
