package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.StringType

import winops.spark.harness.SampleStream
import winops.spark.internal.WinopsErrors

/** The function `winops_sample(request)`. Returns the changes of a window over the rows of a
  * request, as JSON, for the picture of a window in a notebook. See [[SampleStream]].
  */
object SampleFunction extends (Seq[Expression] => Expression) {
  val Name = "winops_sample"
  val Usage = "_FUNC_(request) - Returns the changes of a window over a few sample rows, as JSON."

  override def apply(arguments: Seq[Expression]): Expression = arguments match {
    case Seq(request) if request.foldable && request.dataType.isInstanceOf[StringType] =>
      val text = Option(request.eval()).getOrElse(throw refused)
      Literal(SampleStream.answer(text.toString))
    case _ => throw refused
  }

  private def refused: Throwable = WinopsErrors.argument("VALUE", Name, "(request)")
}
