package winops.spark.checkpoint

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.{ExpressionBudget, RowExpressions}
import winops.spark.internal.WinopsErrors
import winops.spark.row.KeyTypes
import winops.terms.RowExpression

/** A condition over the group key, which selects groups of a stored `keep`.
  *
  * @param condition
  *   the condition, bound to a row of the key's columns
  */
final class GroupCondition private (condition: Expression) extends Serializable {
  @transient private lazy val predicate = Predicate.create(condition)

  /** Returns true if the condition is true for the group, and false if it is NULL. */
  def accepts(key: InternalRow): Boolean = predicate.eval(key)
}

object GroupCondition {

  /** Resolves a condition of Spark SQL over the columns that [[StateRelationReader.schema]] has
    * in the group key, by their names or as fields of `_group`. Strings are compared with a key
    * that is a string of a collation by that collation.
    *
    * @param operator
    *   the number of the operator, for errors
    * @throws org.apache.spark.sql.AnalysisException
    *   `WINOPS_FORGET_WINDOW` if there is no group key; `WINOPS_FORGET_CONDITION` if the text is
    *   not a deterministic condition over it
    */
  def of(text: String, stored: StoredKeep, operator: Long): GroupCondition = {
    if (stored.isUngrouped) {
      throw withoutGroups(stored, operator, "it has no group key, so that its rows have no group")
    }
    val keys = stored.keys.zip(stored.group).map { case (key, name) => key.withName(name) }
    def refused(reason: String): Throwable = WinopsErrors.analysis(
      "WINOPS_FORGET_CONDITION",
      "operator" -> operator.toString,
      "window" -> StoredKeep.windowOf(stored.identity),
      "reason" -> reason,
      "columns" -> stored.group.mkString(", "))
    // The types of computed keys are known only as they are stored.
    val types = keys.map(key => stored.content.find(_.name == key.name).map(_.dataType))
    val written = keys.zip(types).map {
      case (key, Some(own)) if !KeyTypes.areShown(own) => AttributeReference(key.name, own)()
      case (key, _) => key
    }
    val struct = AttributeReference(
      Struct,
      StructType(written.map(key => StructField(key.name, key.dataType))),
      nullable = false)()
    val columns = if (keys.exists(_.name.equalsIgnoreCase(Struct))) written else written :+ struct
    val resolved = RowExpressions
      .resolve(RowExpression.Computed(text)(0), columns, new ExpressionBudget)
      .fold(problem => throw refused(problem.message), identity)
    if (AggregateExpression.containsAggregate(resolved)) {
      throw refused("expected no aggregate, because each group is examined by itself")
    }
    if (resolved.references.isEmpty) throw refused("expected a column of the group key")
    val fields = CreateNamedStruct(written.flatMap(key => Seq(Literal(key.name), key)))
    val ofColumns = resolved.transform {
      case GetStructField(column: Attribute, place, _) if column.semanticEquals(struct) =>
        written(place)
      case column: Attribute if column.semanticEquals(struct) => fields
    }
    val ofKeys = withCollationKeys(ofColumns, written, keys)
    val computed = keys.zip(types).collect { case (key, None) => key }
    reasonAgainst(ofKeys, keys, computed).foreach(reason => throw refused(reason))
    ofKeys.dataType match {
      case BooleanType => new GroupCondition(BindReferences.bindReference(ofKeys, keys))
      case other => throw refused(s"expected a condition, not a value of type ${other.sql}")
    }
  }

  /** Compares each string of a collation by its collation key, as which the group key has it.
    *
    * @param written
    *   the group key with the types of the query
    * @param keys
    *   the group key with the types that are stored
    */
  private def withCollationKeys(
      condition: Expression,
      written: Seq[Attribute],
      keys: Seq[Attribute]): Expression = {
    val stored = AttributeMap(written.zip(keys).filter { case (column, key) => column != key })
    def storedKey(value: Expression): Option[Expression] = value match {
      case column: Attribute => stored.get(column)
      case _ => None
    }
    condition.transform {
      case node @ (_: BinaryComparison | _: In | _: IsNull | _: IsNotNull)
          if node.children.exists(storedKey(_).isDefined) =>
        node.mapChildren(child => storedKey(child).getOrElse(KeyTypes.normalized(child)))
    }
  }

  /** Says why a condition would compare a collation key with something else.
    *
    * @param keys
    *   the group key with the types that are stored
    * @param computed
    *   the keys that are no columns
    */
  private def reasonAgainst(
      condition: Expression,
      keys: Seq[Attribute],
      computed: Seq[Attribute]): Option[String] = {
    val ofStrings = (condition.references -- keys).headOption.map { key =>
      s"${key.name} is stored as its collation key, which =, <=>, <, >, IN and IS NULL alone compare with strings"
    }
    val binary = AttributeSet(
      computed.filter(key => Catalyst.exists(key.dataType)(_ == BinaryType)))
    ofStrings.orElse(condition.collectFirst {
      case node if node.children.exists(isCoerced) && node.references.exists(binary.contains) =>
        val key = node.references.filter(binary.contains).head
        s"${key.name} is stored as BINARY, which may be the collation key of a string. Compare it with the bytes that " +
          s"$Struct of winops_state shows, such as X'626F62'"
    })
  }

  /** Returns true for a cast between strings and BINARY that the condition does not have itself.
    */
  private def isCoerced(value: Expression): Boolean = value match {
    case cast: Cast if cast.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty =>
      val types = Seq(cast.child.dataType, cast.dataType)
      types.exists(Catalyst.exists(_)(_.isInstanceOf[StringType])) &&
      types.exists(Catalyst.exists(_)(_ == BinaryType))
    case _ => false
  }

  /** The error of an operator from which no groups can be removed. */
  def withoutGroups(stored: StoredKeep, operator: Long, reason: String): AnalysisException =
    WinopsErrors.analysis(
      "WINOPS_FORGET_WINDOW",
      "operator" -> operator.toString,
      "window" -> StoredKeep.windowOf(stored.identity),
      "reason" -> reason)

  private val Struct = "_group"
}
