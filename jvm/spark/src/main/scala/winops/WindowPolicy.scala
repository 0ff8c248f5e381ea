package winops

import scala.language.implicitConversions

import winops.spark.analysis.Dialects
import winops.spark.internal.WinopsErrors
import winops.text.ccl.Ccl

/** A policy text with its language, or the policies of several windows in one language.
  *
  * A text is converted to a policy in CCL. `esper`, `apama` and `spl` make policies in other
  * languages. A collection of names and policies, such as a `Map`, is converted to several
  * windows over the same rows, in the order of the collection.
  *
  * @param dialect
  *   the language: `ccl`, `esper`, `apama` or `spl`
  * @param windows
  *   the texts by the names of the windows; one text with an empty name for a single window
  */
final class WindowPolicy private (
    val dialect: String,
    private[winops] val windows: Seq[(String, String)]) {
  import WindowPolicy._

  private[winops] def isOne: Boolean = windows.map(_._1) == Seq(Single)

  /** The text of the policy, or the names and texts of several windows. */
  override def toString: String =
    if (isOne) windows.head._2
    else windows.map { case (name, text) => s"$name: $text" }.mkString(", ")
}

object WindowPolicy {
  private val Single = ""

  /** A policy in CCL, such as `KEEP 100 ROWS PER (symbol)`. */
  implicit def ofText(text: String): WindowPolicy = of(Ccl.name, text)

  /** Several windows over the same rows, which are stored once.
    *
    * @param windows
    *   names and policies of one language
    */
  implicit def ofWindows[A](windows: Iterable[(String, A)])(implicit
      policy: A => WindowPolicy): WindowPolicy = {
    val read = windows.toSeq.map { case (name, one) => name -> policy(one) }
    val dialects = read.map(_._2.dialect).distinct
    read.foreach {
      case (_, window) if !window.isOne =>
        throw WinopsErrors.argument("VALUE", "policy", "one policy for each name")
      case (Single, _) =>
        throw WinopsErrors.argument("VALUE", "policy", "names that are not empty")
      case _ =>
    }
    dialects match {
      case Seq(dialect) =>
        new WindowPolicy(
          dialect,
          read.map { case (name, window) => name -> window.windows.head._2 })
      case Seq() => throw WinopsErrors.argument("VALUE", "policy", "one or more windows")
      case _ =>
        throw WinopsErrors.argument(
          "VALUE",
          "policy",
          s"windows in one language, not in ${dialects.mkString(" and ")}")
    }
  }

  /** A policy of a language, whose name is that of an argument in SQL. */
  private[winops] def of(dialect: String, text: String): WindowPolicy =
    if (Dialects.named(dialect).isDefined) new WindowPolicy(dialect, Seq(Single -> text))
    else {
      throw WinopsErrors.argument(
        "VALUE",
        "dialect",
        Dialects.all.map(_.name).mkString("'", "' or '", "'"))
    }
}
