package winops.spark.checkpoint

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types._

import winops.spark.expressions.{ExpressionBudget, RowExpressions}
import winops.spark.internal.WinopsErrors
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
    * in the group key, by their names or as fields of `_group`.
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
    val struct = AttributeReference(
      Struct,
      StructType(keys.map(key => StructField(key.name, key.dataType))),
      nullable = false)()
    val columns = if (keys.exists(_.name.equalsIgnoreCase(Struct))) keys else keys :+ struct
    val resolved = RowExpressions
      .resolve(RowExpression.Computed(text)(0), columns, new ExpressionBudget)
      .fold(problem => throw refused(problem.message), identity)
    if (AggregateExpression.containsAggregate(resolved)) {
      throw refused("expected no aggregate, because each group is examined by itself")
    }
    if (resolved.references.isEmpty) throw refused("expected a column of the group key")
    val fields = CreateNamedStruct(keys.flatMap(key => Seq(Literal(key.name), key)))
    val ofKeys = resolved.transform {
      case column: Attribute if column.semanticEquals(struct) =>
        fields
    }
    ofKeys.dataType match {
      case BooleanType => new GroupCondition(BindReferences.bindReference(ofKeys, keys))
      case other => throw refused(s"expected a condition, not a value of type ${other.sql}")
    }
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
