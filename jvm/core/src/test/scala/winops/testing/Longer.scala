package winops.testing

import org.scalatest.Tag

/** Marks tests that `make test` leaves out and `make test-rest` runs: they take long, and other
  * tests find most of what would make them fail.
  */
object Longer extends Tag("winops.testing.Longer") {

  /** The tags of a case of a table of which `make test` runs only some. */
  def unless(isShort: Boolean): Seq[Tag] = if (isShort) Nil else Seq(this)
}
