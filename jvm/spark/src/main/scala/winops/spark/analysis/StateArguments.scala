package winops.spark.analysis

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression}

import winops.spark.internal.WinopsErrors

/** Parses the arguments of a table function over a checkpoint.
  *
  * @param names
  *   parameter names in positional order; an argument is positional or named
  */
private[spark] final class StateArguments(names: Seq[String], expressions: Seq[Expression]) {
  private val (positional, named) = expressions.span(!_.isInstanceOf[NamedArgumentExpression])

  if (positional.size > names.size) throw unknown(positional(names.size).sql)

  private val values: Map[String, Expression] = {
    val all = names.zip(positional) ++ named.map {
      case NamedArgumentExpression(name, value) => name.toLowerCase(Locale.ROOT) -> value
      case other =>
        throw WinopsErrors.argument(
          "UNKNOWN",
          other.sql,
          "only named arguments after a named one")
    }
    all.groupBy(_._1).foreach { case (name, several) =>
      if (!names.contains(name)) throw unknown(name)
      if (several.size > 1) throw WinopsErrors.argument("DUPLICATE", name, "each argument once")
    }
    all.toMap
  }

  /** A required text.
    *
    * @param meaning
    *   description of the text for the error message
    */
  def text(name: String, meaning: String): String = values
    .get(name)
    .map(Arguments.textOf(name, _))
    .getOrElse(throw WinopsErrors.argument("MISSING", name, meaning))

  /** An optional whole number of at least `least`. NULL counts as not given. */
  def whole(name: String, least: Long): Option[Long] =
    values.get(name).filterNot(e => e.foldable && e.eval() == null).map { expression =>
      Arguments.wholeOf(name, expression).filter(_ >= least).getOrElse {
        throw WinopsErrors.argument("VALUE", name, s"a whole number of $least or more")
      }
    }

  private def unknown(name: String): Throwable =
    WinopsErrors.argument("UNKNOWN", name, names.mkString("one of ", ", ", ""))
}
