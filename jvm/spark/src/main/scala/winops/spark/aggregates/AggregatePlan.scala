package winops.spark.aggregates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.{HiddenArguments, OfLastArrival, WindowAggregate}

/** Splits results into the aggregates that they contain, each of them once, and expressions over
  * the columns with the aggregates' values.
  *
  * @param results
  *   expressions over [[WindowAggregate]]s, [[OfLastArrival]], `by` and columns of a row
  * @param by
  *   expressions whose distinct combinations have results of their own
  * @param foldsRows
  *   returns true for functions that are to be computed from all rows, oldest to newest
  */
private[spark] final class AggregatePlan(
    results: Seq[Expression],
    by: Seq[Expression],
    foldsRows: WindowAggregate => Boolean) {
  private val aggregates = mutable.ArrayBuffer.empty[(WindowAggregate, Attribute)]
  private val last = mutable.ArrayBuffer.empty[(Expression, Attribute)]

  /** The columns with the values of `by`. */
  val byColumns: Seq[Attribute] = by.map(columnFor)

  private val overColumns: Seq[Expression] = results.map(withColumns)

  val (
    merged: Seq[WindowAggregate],
    counted: Seq[WindowAggregate],
    recomputed: Seq[WindowAggregate]) = {
    val (held, rest) = aggregates.map(_._1).toSeq.partition { aggregate =>
      FunctionBuffers.canHold(aggregate) && !foldsRows(aggregate)
    }
    val (numbers, others) = rest.partition(DistinctCounts.canCount)
    (held, numbers, others)
  }

  /** Expressions evaluated on the most recently inserted row. */
  val ofLastArrival: Seq[Expression] = last.map(_._1).toSeq
  val lastColumns: Seq[Attribute] = last.map(_._2).toSeq

  /** The columns of values that are not expressions over buffers: the merged functions with the
    * indexes `programmed`, then `counted`, then `recomputed`.
    */
  def outside(programmed: Seq[Int]): Seq[Attribute] =
    (programmed.map(merged) ++ counted ++ recomputed).map(answerTo)

  /** Returns the results with functions replaced by their expressions over the aggregation
    * buffers.
    */
  def evaluated(buffers: FunctionBuffers): Seq[Expression] = {
    val meanings = merged.zipWithIndex.flatMap { case (aggregate, i) =>
      buffers.evaluation(i).map(answerTo(aggregate).exprId -> _)
    }.toMap
    overColumns.map(_.transform { case column: Attribute =>
      meanings.getOrElse(column.exprId, column)
    })
  }

  private def answerTo(aggregate: WindowAggregate): Attribute =
    aggregates.find(_._1 eq aggregate).map(_._2).get

  private def withColumns(expression: Expression): Expression = {
    val divided = by.indexWhere(_.semanticEquals(expression))
    expression match {
      case _ if divided >= 0 => byColumns(divided)
      case aggregate: WindowAggregate =>
        known(aggregates, aggregate)(HiddenArguments.areSame(_, aggregate))
      case OfLastArrival(child) => known(last, child)(HiddenArguments.areSame(_, child))
      case other => other.mapChildren(withColumns)
    }
  }

  private def known[A <: Expression](list: mutable.Buffer[(A, Attribute)], expression: A)(
      isSame: A => Boolean): Attribute =
    list.find(entry => isSame(entry._1)).map(_._2).getOrElse {
      val column = columnFor(expression)
      list += expression -> column
      column
    }

  private def columnFor(expression: Expression): Attribute =
    AttributeReference("value", expression.dataType, nullable = true)()
}
