package winops.spark.expressions

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.row.{StoredRows, StoredValues}
import winops.window.expression.{RowCondition, WindowView}

/** Compiles conditions on a row and its window from expressions that [[ConditionNames]] has
  * resolved.
  */
private[spark] object WindowCondition {
  def apply(expression: Expression, content: Seq[Attribute], rows: StoredRows): RowCondition =
    if (expression.foldable) {
      val isTrue = Predicate.createInterpreted(expression).eval(InternalRow.empty)
      _ => isTrue
    } else new WindowCondition(expression, content, rows)
}

/** Reads only the columns that the condition names, and iterates over the window only for
  * aggregates.
  */
private final class WindowCondition(
    expression: Expression,
    content: Seq[Attribute],
    rows: StoredRows)
    extends RowCondition {
  private val examined = new NamedColumns
  private val newest = new NamedColumns
  private val oldest = new NamedColumns
  private val facts = mutable.ArrayBuffer.empty[(Fact, Attribute)]
  private val aggregates = mutable.ArrayBuffer.empty[(WindowAggregate, Attribute)]

  private val predicate = {
    val condition = overOneRow(expression)
    val columns = Seq(examined, newest, oldest).flatMap(_.columns) ++ facts.map(_._2) ++
      aggregates.map(_._2)
    Predicate.create(condition, columns)
  }

  private val examinedValues = examined.valuesOf(content, rows)
  private val newestValues = newest.valuesOf(content, rows)
  private val oldestValues = oldest.valuesOf(content, rows)
  private val factsInUse = facts.map(_._1).toArray
  private val evaluators = aggregates.map { case (aggregate, _) =>
    new AggregateEvaluator(aggregate, content)
  }.toArray

  private val ofWindow = new SpecificInternalRow((facts ++ aggregates).map(_._2.dataType).toSeq)
  private val ofRows = new JoinedRow
  private val ofOthers = new JoinedRow
  private val input = new JoinedRow(ofRows, ofOthers)
  private val member = new UnsafeRow(content.size)

  override def holds(view: WindowView): Boolean = {
    ofRows(
      if (examined.isEmpty) InternalRow.empty else examinedValues.of(view.examined),
      if (newest.isEmpty) InternalRow.empty else newestValues.of(view.newest))
    ofOthers(if (oldest.isEmpty) InternalRow.empty else oldestValues.of(view.oldest), ofWindow)
    var i = 0
    while (i < factsInUse.length) {
      ofWindow.setLong(i, factsInUse(i).of(view))
      i += 1
    }
    if (evaluators.nonEmpty) evaluate(view)
    predicate.eval(input)
  }

  private def evaluate(view: WindowView): Unit = {
    evaluators.foreach(_.clear())
    var ordinal = view.after(WindowView.NoRow)
    while (ordinal != WindowView.NoRow) {
      rows.pointTo(member, ordinal)
      evaluators.foreach(_.add(member))
      ordinal = view.after(ordinal)
    }
    var i = 0
    while (i < evaluators.length) {
      ofWindow.update(factsInUse.length + i, evaluators(i).result)
      i += 1
    }
  }

  /** Rewrites the condition over one row with a column for each named value. */
  private def overOneRow(part: Expression): Expression = part match {
    case OfRow(OtherRow.Newest, child) => newest.in(child)
    case OfRow(OtherRow.Oldest, child) => oldest.in(child)
    case column: Attribute => examined.in(column)
    case requested @ WindowFact(fact) =>
      columnFor(facts, requested, fact)(_ == fact)
    case aggregate: WindowAggregate =>
      columnFor(aggregates, aggregate, aggregate)(_.semanticEquals(aggregate))
    case other => other.mapChildren(overOneRow)
  }

  private def columnFor[A](
      known: mutable.Buffer[(A, Attribute)],
      value: Expression,
      requested: A)(isSame: A => Boolean): Attribute =
    known.find(entry => isSame(entry._1)).map(_._2).getOrElse {
      val column = AttributeReference("value", value.dataType, value.nullable)()
      known += requested -> column
      column
    }

  /** The columns of one row that the condition names, as new attributes. */
  private final class NamedColumns {
    private val own = mutable.LinkedHashMap.empty[ExprId, (Attribute, Attribute)]

    def isEmpty: Boolean = own.isEmpty
    def columns: Seq[Attribute] = own.values.map(_._2).toSeq

    def in(expression: Expression): Expression = expression.transform { case column: Attribute =>
      own.getOrElseUpdate(column.exprId, column -> column.newInstance())._2
    }

    def valuesOf(content: Seq[Attribute], rows: StoredRows): StoredValues =
      new StoredValues(own.values.map(_._1).toSeq, content, rows)
  }
}
