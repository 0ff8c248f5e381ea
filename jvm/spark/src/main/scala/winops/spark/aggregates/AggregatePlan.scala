package winops.spark.aggregates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.{OfLastArrival, WindowAggregate}

/** The aggregates that results are made of, each once, and the results as expressions over the
  * columns that hold them.
  *
  * @param results
  *   expressions over [[WindowAggregate]]s, [[OfLastArrival]], `by` and columns of a row
  */
private[spark] final class AggregatePlan(results: Seq[Expression], by: Seq[Expression]) {
  private val aggregates = mutable.ArrayBuffer.empty[(WindowAggregate, Attribute)]
  private val last = mutable.ArrayBuffer.empty[(Expression, Attribute)]

  /** The columns of the values that divide the rows. */
  val byColumns: Seq[Attribute] = by.map(columnFor)

  private val overColumns: Seq[Expression] = results.map(withColumns)

  val (
    merged: Seq[WindowAggregate],
    counted: Seq[WindowAggregate],
    tallied: Seq[WindowAggregate]) = {
    val (held, rest) = aggregates.map(_._1).toSeq.partition(FunctionBuffers.canHold)
    val (numbers, others) = rest.partition(DistinctCounts.canCount)
    (held, numbers, others)
  }

  /** Expressions evaluated on the most recently inserted row. */
  val ofLastArrival: Seq[Expression] = last.map(_._1).toSeq
  val lastColumns: Seq[Attribute] = last.map(_._2).toSeq

  /** The columns of what is not evaluated out of buffers: the merged functions with these
    * numbers, then those that are counted, then those that are tallied.
    */
  def outside(programmed: Seq[Int]): Seq[Attribute] =
    (programmed.map(merged) ++ counted ++ tallied).map(answerTo)

  /** The results, with what functions are worth over their buffers in its place. */
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
        known(aggregates, aggregate)(_.semanticEquals(aggregate))
      case OfLastArrival(child) => known(last, child)(_.semanticEquals(child))
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
