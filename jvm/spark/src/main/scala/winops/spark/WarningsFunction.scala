package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, StringType}

import winops.policy.Scope
import winops.spark.analysis.Arguments
import winops.spark.internal.WinopsErrors
import winops.text.ccl.Ccl

/** The function `winops_warnings(policy, params, columns, group, key)`. Returns warnings about a
  * policy that is valid but probably not intended, over rows with `columns` and the primary key
  * `key`. `group` holds the group columns given outside the policy.
  */
object WarningsFunction extends (Seq[Expression] => Expression) {
  val Name = "winops_warnings"

  val Usage: String =
    "_FUNC_(policy, params, columns, group, key) - " +
      "Returns what is valid in a CCL policy but hardly meant."

  override def apply(arguments: Seq[Expression]): Expression = arguments match {
    case Seq(policy, parameters, columns, group, key)
        if arguments.forall(_.foldable) && policy.eval() != null && policy.dataType
          .isInstanceOf[StringType] &&
          Seq(columns, group, key).forall(_.dataType.isInstanceOf[ArrayType]) =>
      val scope = Scope(Arguments.parameters("params", parameters), strings(columns))
      val named = Ccl.parse(policy.eval().toString, scope).fold(_ => Nil, _.group.columns)
      Literal.create(warnings(named ++ strings(group), strings(key)), ArrayType(StringType))
    case _ =>
      throw WinopsErrors.argument(
        "VALUE",
        Name,
        "(policy, params, array(columns), array(group), array(key))")
  }

  /** Warnings about a window per `group` over rows with the primary key `key`. */
  def warnings(group: Seq[String], key: Seq[String]): Seq[String] =
    if (key.nonEmpty && key.forall(group.contains)) {
      Seq(
        s"The group columns contain the primary key (${key.mkString(", ")}): " +
          "every group can hold one row only.")
    } else Nil

  private def strings(expression: Expression): Seq[String] = expression.eval() match {
    case array: ArrayData => array.toSeq[Any](StringType).map(String.valueOf)
    case _ => Nil
  }
}
