package winops.spark.checkpoint

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import winops.spark.row.KeyTypes

/** The groups that a reader of state needs to open, by the predicates of the query on the column
  * of the group key. A predicate that is true for a group is true for all of its rows or for
  * none.
  *
  * @param predicates
  *   predicates over the column of the group key, which are bound to a row of this column only
  * @param keys
  *   the only keys for which all predicates can be true, with the types of the stored keys; none
  *   if the predicates do not tell
  */
final class GroupFilter private (predicates: Seq[Expression], val keys: Option[Seq[UnsafeRow]])
    extends Serializable {

  @transient private lazy val row = new GenericInternalRow(1)

  /** Returns false if no row of a group passes the predicates. */
  def accepts(key: InternalRow): Boolean = predicates.forall { predicate =>
    row.update(0, key)
    // Spark's filter evaluates the predicate again, and fails if it fails there.
    Try(predicate.eval(row)).fold(_ => true, _ == true)
  }
}

object GroupFilter {

  /** The filter that accepts all groups. */
  val All: GroupFilter = new GroupFilter(Nil, None)

  // A query with longer lists reads the keys of all groups.
  private val MostKeys = 1000

  /** Returns true if a predicate can be evaluated for a group, without its rows.
    *
    * @param column
    *   the column of the group key
    */
  def canEvaluate(predicate: Expression, column: Attribute): Boolean =
    predicate.references.nonEmpty && predicate.references.subsetOf(AttributeSet(column)) &&
      predicate.deterministic && !predicate.exists {
        case _: Attribute => false
        case _: Unevaluable | _: PlanExpression[_] => true
        case _ => false
      }

  /** The filter of predicates of which each [[canEvaluate]].
    *
    * @param stored
    *   the columns of a stored key
    */
  def apply(predicates: Seq[Expression], column: Attribute, stored: Seq[Attribute]): GroupFilter =
    if (predicates.isEmpty) All
    else {
      val bound = predicates.map(BindReferences.bindReference(_, Seq(column)))
      new GroupFilter(bound, keysOf(bound, stored.map(_.dataType)))
    }

  private def keysOf(bound: Seq[Expression], types: Seq[DataType]): Option[Seq[UnsafeRow]] = {
    val values = types.zipWithIndex.map { case (dataType, ordinal) =>
      if (isLookedUp(dataType)) {
        bound.flatMap(valuesOf(_, ordinal, dataType)).minByOption(_.size)
      } else None
    }
    Option.when(values.nonEmpty && values.forall(_.isDefined))(values.flatten).collect {
      case lists if lists.map(_.size.toLong).product <= MostKeys =>
        val project = UnsafeProjection.create(types.toArray)
        lists
          .foldLeft(Seq(Seq.empty[Any]))((keys, values) => keys.flatMap(k => values.map(k :+ _)))
          .map(key => project(InternalRow.fromSeq(key)).copy())
          .distinct
    }
  }

  /** The values of a field of the key for which a predicate can be true, in the form in which
    * keys are stored.
    */
  private def valuesOf(
      predicate: Expression,
      ordinal: Int,
      dataType: DataType): Option[Seq[Any]] = {
    def isField(expression: Expression) = expression match {
      case GetStructField(_: BoundReference, `ordinal`, _) => true
      case _ => false
    }
    val values = predicate match {
      case _: EqualTo | _: EqualNullSafe =>
        val (fields, others) = predicate.children.partition(isField)
        if (fields.isEmpty) None
        else others.collectFirst { case Literal(value, `dataType`) => Seq(value) }
      case IsNull(field) if isField(field) => Some(Seq(null))
      case In(field, list) if isField(field) && list.forall(_.isInstanceOf[Literal]) =>
        Some(list.collect { case Literal(value, `dataType`) => value })
          .filter(_.size == list.size)
      case InSet(field, set) if isField(field) => Some(set.toSeq)
      case _ => None
    }
    values.map(_.map(value => KeyTypes.normalized(Literal(value, dataType)).eval()))
  }

  /** Returns false for nested types, of which Spark compares the fields. */
  private def isLookedUp(dataType: DataType): Boolean = dataType match {
    case _: StructType | _: ArrayType | _: MapType => false
    case _ => KeyTypes.accept(dataType) && KeyTypes.areShown(dataType)
  }
}
