package winops.spark.testing

import scala.util.Random

/** Random corruptions of stored bytes. */
final class Damage(random: Random) {
  def of(bytes: Array[Byte]): Array[Byte] = random.nextInt(6) match {
    case 0 => bytes.take(random.nextInt(bytes.length + 1))
    case 1 => bytes ++ some(1 + random.nextInt(20))
    case 2 => some(random.nextInt(60))
    case 3 if bytes.nonEmpty =>
      // The largest numbers make lengths overflow.
      val from = random.nextInt(bytes.length)
      bytes.patch(from, Array.fill[Byte](9)(-1), random.nextInt(10))
    case _ if bytes.nonEmpty =>
      val place = random.nextInt(bytes.length)
      bytes.updated(place, (bytes(place) ^ (1 << random.nextInt(8))).toByte)
    case _ => some(5)
  }

  private def some(length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    random.nextBytes(bytes)
    bytes
  }
}
