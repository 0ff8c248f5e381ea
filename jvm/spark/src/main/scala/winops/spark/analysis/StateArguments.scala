package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}

import winops.spark.internal.WinopsErrors

/** The arguments of a table function over a checkpoint.
  *
  * @param names
  *   their names; those of the first are optional where they stand
  */
private[spark] final class StateArguments(names: Seq[String], expressions: Seq[Expression]) {
  private val (positional, named) = expressions.span(!_.isInstanceOf[NamedArgumentExpression])

  if (positional.size > names.size) throw unknown(positional(names.size).sql)

  private val values: Map[String, Expression] = {
    val all = names.zip(positional) ++ named.map {
      case NamedArgumentExpression(name, value) => name.toLowerCase(Locale.ROOT) -> value
      case other => throw WinopsErrors.argument("UNKNOWN", other.sql, "names after names")
    }
    all.groupBy(_._1).foreach { case (name, several) =>
      if (!names.contains(name)) throw unknown(name)
      if (several.size > 1) throw WinopsErrors.argument("DUPLICATE", name, "each argument once")
    }
    all.toMap
  }

  /** @param meaning
    *   what the text is, for a message
    */
  def text(name: String, meaning: String): String = values
    .get(name)
    .map(Arguments.textOf(name, _))
    .getOrElse(throw WinopsErrors.argument("MISSING", name, meaning))

  /** A whole number of at least `least`; NULL is as if it were not given. */
  def whole(name: String, least: Long): Option[Long] =
    values.get(name).filterNot(e => e.foldable && e.eval() == null).map { expression =>
      Arguments.wholeOf(name, expression).filter(_ >= least).getOrElse {
        throw WinopsErrors.argument("VALUE", name, s"a whole number of $least or more")
      }
    }

  private def unknown(name: String): Throwable =
    WinopsErrors.argument("UNKNOWN", name, names.mkString(", "))
}
