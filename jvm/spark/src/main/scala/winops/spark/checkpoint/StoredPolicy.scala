package winops.spark.checkpoint

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.policy.{Policy, Scope}
import winops.spark.analysis.{ColumnKinds, ResolvedPolicy, SeveralWindows}
import winops.spark.expressions.PolicyExpressions
import winops.spark.restart.NamedWindows
import winops.terms.{Origin, RowExpression}
import winops.text.dialect.Dialect

/** Parses the policy text that a checkpoint stores.
  *
  * @param dialect
  *   the dialect of the text
  * @param columns
  *   the columns of the rows
  * @param isGrouped
  *   whether the rows have a group, which the text does not contain
  */
private[spark] final class StoredPolicy(
    val dialect: Dialect,
    columns: Seq[Attribute],
    isGrouped: Boolean) {
  import StoredPolicy._

  /** The policy whose window has the text `text`; `None` if the text cannot be parsed. */
  def read(text: String): Option[Policy] = text match {
    case NamedWindows.First(_*) => readSeveral(text).map(SeveralWindows.of(_).policy)
    case _ => readOne(text)
  }

  /** Resolves the policy's expressions over the columns; `None` if one cannot be resolved. */
  def expressions(policy: Policy): Option[PolicyExpressions] =
    PolicyExpressions.resolve(policy, columns).toOption

  private def readOne(text: String): Option[Policy] = {
    val (window, origin) = text match {
      case Counting(window, _, null) => (window, Some(Origin.FirstRow))
      case Counting(window, _, millis) => (window, millis.toLongOption.map(Origin.At(_)))
      case _ => (text, None)
    }
    val scope = Scope(
      columns = columns.map(_.name),
      origin = origin,
      kinds = columns.map(column => column.name -> ColumnKinds.of(column.dataType)).toMap,
      isGrouped = isGrouped)
    dialect.parse(window, scope).toOption.filter(_.window == text)
  }

  /** Parses several named windows. Only the names separate windows, and the text of a window may
    * contain what looks like a name. So each possible end is tried, and the first reading that
    * consumes the whole text is taken.
    */
  private def readSeveral(text: String): Option[List[(String, ResolvedPolicy)]] = text match {
    case NamedWindows.First(quoted, rest) =>
      val ends = NamedWindows.Next.findAllMatchIn(rest).map(_.start).toVector :+ rest.length
      ends.iterator
        .flatMap { end =>
          for {
            policy <- readOne(rest.take(end))
            meaning <- expressions(policy)
            others <- if (end == rest.length) Some(Nil) else readSeveral(rest.drop(end + 2))
          } yield (unquoted(quoted), ResolvedPolicy(policy, meaning)) :: others
        }
        .nextOption()
    case _ => None
  }
}

private[checkpoint] object StoredPolicy {
  private val Counting: Regex =
    "(?is)(.*) origin (first row|(-?[0-9]+) milliseconds?)".r

  /** A column of the primary key, from its SQL. */
  def keyColumn(sql: String): RowExpression = RowExpression.Column(unquoted(sql))(0)

  private def unquoted(name: String): String =
    if (name.startsWith("`")) name.drop(1).dropRight(1).replace("``", "`") else name
}
