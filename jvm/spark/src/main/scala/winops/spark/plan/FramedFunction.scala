package winops.spark.plan

import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{Attribute, DenseRank, Expression, Literal, Rank, UnaryExpression, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.{DataType, TimestampType}

import winops.spark.expressions.{HiddenArguments, UnqualifiedSql}

/** A window function with its frame.
  *
  * @param child
  *   a [[WindowAggregate]], a [[PositionFunction]], or an [[OffsetValue]], whose boundaries are
  *   not used
  * @param lower
  *   the first row of the frame
  * @param upper
  *   the last row of the frame
  */
final case class FramedFunction(child: Expression, lower: FrameBound, upper: FrameBound)
    extends UnaryExpression
    with Unevaluable {

  /** Returns true if a boundary counts rows. */
  def isOfRows: Boolean = FramedFunction.isOfRows(lower, upper)

  /** Returns true if the result of a row may depend on rows behind it and its peers. */
  def needsFollowing: Boolean = child match {
    case value: OffsetValue => value.offset > 0
    case _ => upper.needsFollowing
  }

  /** The function in an operator with further sort keys, behind the first `keys` ones, which are
    * the function's own.
    */
  def ofFirstKeys(keys: Int): FramedFunction = {
    def of(bound: FrameBound) = bound match {
      case FrameBound.ByPeers(None) => FrameBound.ByPeers(Some(keys))
      case other => other
    }
    val function = child match {
      case PositionFunction(rank @ (_: Rank | _: DenseRank), None) =>
        PositionFunction(rank, Some(keys))
      case other => other
    }
    FramedFunction(function, of(lower), of(upper))
  }

  /** The boundaries that depend on the time zone, as expressions. */
  def zonedBounds: Seq[Expression] = Seq(lower, upper).collect {
    case by: FrameBound.ByTime if by.dependsOnZone => by.of(Literal(0L, TimestampType))
  }

  override def nullable: Boolean = true
  override def dataType: DataType = child.dataType

  override def sql: String = child match {
    case value: OffsetValue => value.sql
    case _ => s"${child.sql} ${FramedFunction.text(lower, upper)}"
  }

  override protected def withNewChildInternal(newChild: Expression): FramedFunction =
    copy(child = newChild)
}

object FramedFunction {

  /** The SQL of a function or sort key, with the arguments that Spark's SQL does not show. Its
    * columns are named by [[nameOf]].
    */
  def textOf(function: Expression, content: Seq[Attribute]): String = {
    val named = HiddenArguments.withStableSql(function.clone()).transform {
      case column: Attribute => column.withQualifier(Nil).withName(nameOf(column, content))
    }
    // The name that the user has written for a function is not known in a task.
    named.foreach(_.unsetTagValue(FunctionRegistry.FUNC_ALIAS))
    (named.sql +: hiddenArguments(named)).mkString(" ")
  }

  /** The identity of a function or sort key: its SQL, and a digest of what the SQL does not show.
    */
  def identityOf(function: Expression, content: Seq[Attribute]): String =
    withDigest(textOf(function, content), function)

  /** The SQL of an expression of a `keep`, with the name that the user has written for a
    * function. Its columns are named by [[nameOf]].
    */
  def writtenText(expression: Expression, content: Seq[Attribute]): String =
    UnqualifiedSql.of(expression.transform { case column: Attribute =>
      column.withName(nameOf(column, content))
    })

  /** The identity of a result of a `keep`: its [[writtenText]], and a digest of what the SQL does
    * not show.
    */
  def identityOfResult(result: Expression, content: Seq[Attribute]): String =
    withDigest(writtenText(HiddenArguments.withStableSql(result), content), result)

  private def withDigest(text: String, function: Expression): String =
    (text +: HiddenArguments.digest(function).map(Digest + _).toSeq).mkString(" ")

  /** The identity of [[identityOf]] without the digest. */
  def withoutDigest(identity: String): String = identity.replaceAll(s" $Digest[0-9a-f]{16}", "")

  private val Digest = "arguments:"

  /** The name of a column as `content` spells it. A column behind others of its name has the
    * number of these too, because a restart matches columns by their names and their order.
    */
  def nameOf(column: Attribute, content: Seq[Attribute]): String =
    content.indexWhere(_.exprId == column.exprId) match {
      case -1 => column.name
      case place =>
        val name = content(place).name
        numbered(name, content.take(place).count(_.name == name))
    }

  /** The name of a column behind `others` columns of its name. */
  def numbered(name: String, others: Int): String = if (others == 0) name else s"$name#$others"

  /** The arguments of aggregates that are no expressions, such as IGNORE NULLS of `last_value`.
    */
  private def hiddenArguments(function: Expression): Seq[String] = function
    .collect { case aggregate: AggregateFunction => aggregate.productIterator }
    .flatten
    .collect {
      case true => "true"
      case number: Double => number.toString
    }

  /** The frame clause of two boundaries. */
  def text(lower: FrameBound, upper: FrameBound): String = {
    val unit = if (isOfRows(lower, upper)) "ROWS" else "RANGE"
    s"$unit BETWEEN ${text(lower)} AND ${text(upper)}"
  }

  private def isOfRows(bounds: FrameBound*): Boolean =
    bounds.exists(_.isInstanceOf[FrameBound.ByRows])

  private def text(bound: FrameBound): String = bound match {
    case FrameBound.Unbounded => "UNBOUNDED PRECEDING"
    case FrameBound.ByRows(0) | FrameBound.ByPeers(None) => "CURRENT ROW"
    case FrameBound.ByPeers(Some(keys)) => s"CURRENT ROW${FrameBound.textOfKeys(keys)}"
    case FrameBound.ByRows(offset) if offset < 0 => s"${-offset.toLong} PRECEDING"
    case FrameBound.ByRows(offset) => s"$offset FOLLOWING"
    case FrameBound.ByTime(offset, _, isFollowing) =>
      s"${offset.sql} ${if (isFollowing) "FOLLOWING" else "PRECEDING"}"
  }
}
