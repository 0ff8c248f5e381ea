package winops.spark.live

import java.util.Locale

import scala.xml.{Elem, NodeSeq}

/** Draws numbers as a small line, in SVG.
  *
  * @param width
  *   the width in pixels
  * @param height
  *   the height in pixels
  */
final class Sparkline(width: Int, height: Int) {

  /** Draws the numbers from left to right, over the whole width. The bottom is 0, and the top is
    * the greatest number.
    *
    * @param title
    *   the text that browsers show beside the pointer
    */
  def of(numbers: Seq[Double], title: String): Elem = {
    val top = numbers.maxOption.filter(_ > 0).getOrElse(1.0)
    val step = (width - 2.0 * Margin) / Math.max(1, numbers.size - 1)
    val points = numbers.zipWithIndex.map { case (number, i) =>
      (Margin + i * step, height - Margin - number / top * (height - 2.0 * Margin))
    }
    <svg class="winops-line" viewBox={
      s"0 0 $width $height"
    } preserveAspectRatio="none" role="img">
      <title>{title}</title>
      {if (points.size < 2) NodeSeq.Empty else lines(points)}
    </svg>
  }

  private def lines(points: Seq[(Double, Double)]): NodeSeq = {
    val line = points.map { case (x, y) => s"${text(x)},${text(y)}" }.mkString(" ")
    val bottom = text(height - Margin.toDouble)
    <polygon points={s"${text(points.head._1)},$bottom $line ${text(points.last._1)},$bottom"}/>
    <polyline points={line}/>
  }

  private val Margin = 2

  private def text(number: Double): String = "%.1f".formatLocal(Locale.ROOT, number)
}
