package winops.storage.btree

import scala.util.Random

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.testing.TableTests

class PackedPageSuite extends TableTests with ScalaCheckPropertyChecks {
  import PackedPageSuite._

  test("a page is read as it was written") {
    forAll(
      Gen.long,
      Gen.choose(1, Page.MaxEntries),
      Gen.oneOf(0, 8, 60),
      Gen.oneOf(true, false)) { (seed, count, valueBytes, isLeaf) =>
      val page = pageOf(new Random(seed), count, valueBytes, isLeaf)
      assert(contentOf(read(written(page))) == contentOf(page))
    }
  }

  test("an empty leaf is read as it was written, and no inner page is empty") {
    assert(read(written(new Page(1, isLeaf = true))).count == 0)
    intercept[CorruptStateException](read(written(new Page(1, isLeaf = false))))
  }

  test("entries that are alike take few bytes") {
    val page = new Page(1, isLeaf = true)
    (0 until 100).foreach(i => page.insert(i, PagedMapSuite.ordinal(i), new Array[Byte](48)))
    // Measured: 505 bytes for 100 entries of 56.
    assert(written(page).length < 100 * 6)
  }

  for (isLeaf <- Seq(true, false)) {
    testEach(s"keys that are out of order or twice there are refused, in a leaf: $isLeaf")(
      (2, 1),
      (1, 1)) { case (first, second) =>
      val page = new Page(1, isLeaf)
      // The first key of an inner page represents the lower bound, whatever its value.
      val keys = if (isLeaf) Seq(first, second) else Seq(9, first, second)
      keys.zipWithIndex.foreach { case (key, i) =>
        append(page, i, PagedMapSuite.ordinal(key), Array.emptyByteArray)
      }
      intercept[CorruptStateException](read(written(page)))
    }
  }

  private val lengths = Seq(-2L, 1L << 20, 1L << 31, 1L << 40, Long.MaxValue, Long.MinValue)

  testEach("lengths that the bytes are too few for are refused before there is room for them")(
    lengths.flatMap(length => Seq(Seq(length, 8L), Seq(8L, length))): _*) { ofKeyAndValue =>
    val out = new ByteWriter
    out.byte(2)
    out.byte(1)
    (100L +: ofKeyAndValue).foreach(out.number)
    out.raw(new Array[Byte](100), 0, 100)
    intercept[CorruptStateException](read(out.toArray))
  }

  test("more entries than a page has are refused") {
    val out = new ByteWriter
    out.byte(2)
    out.byte(1)
    Seq(Page.MaxEntries + 1L, 0L, 0L).foreach(out.number)
    intercept[CorruptStateException](read(out.toArray))
  }

  test("pages that were changed or cut off are refused, or read as others in order") {
    val random = new Random(5)
    val outcomes = Seq.fill(3000) {
      val bytes =
        written(pageOf(random, 1 + random.nextInt(20), random.nextInt(20), random.nextBoolean()))
      val damaged =
        if (random.nextBoolean()) bytes.take(random.nextInt(bytes.length))
        else bytes.updated(random.nextInt(bytes.length), random.nextInt(256).toByte)
      try {
        val page = read(damaged)
        (0 until page.count).forall(i => !page.isLeaf || page.search(page.key(i)) == i)
      } catch {
        case _: CorruptStateException => false
      }
    }
    assert(outcomes.contains(true))
    assert(outcomes.contains(false))
  }
}

private object PackedPageSuite {

  /** A page with keys and values of the same length, or of random lengths up to it. */
  def pageOf(random: Random, count: Int, valueBytes: Int, isLeaf: Boolean): Page = {
    val areAlike = random.nextBoolean()
    val keys = Seq.fill(count)(random.nextInt(1 << 20)).distinct.sorted
    val page = new Page(1, isLeaf)
    keys.zipWithIndex.foreach { case (key, i) =>
      val tail = random.nextBytes(if (areAlike) 9 else random.nextInt(10))
      val value = random.nextBytes(if (areAlike) valueBytes else random.nextInt(valueBytes + 1))
      append(page, i, PagedMapSuite.ordinal(key) ++ tail, value)
    }
    page
  }

  private def append(page: Page, number: Int, key: Array[Byte], value: Array[Byte]): Unit =
    if (page.isLeaf) page.insert(number, key, value) else page.insert(number, key, number.toLong)

  private def written(page: Page): Array[Byte] = {
    val out = new ByteWriter
    PackedPage.write(page, mayChange = false, out)
    out.toArray
  }

  private def read(bytes: Array[Byte]): Page = {
    val in = new ByteReader(bytes)
    val page = PackedPage.read(1, in)
    in.finish()
    page
  }

  def contentOf(page: Page): Seq[Any] =
    page.isLeaf +: (0 until page.count).map { i =>
      page.key(i).toSeq -> (if (page.isLeaf) page.value(i).toSeq else page.child(i))
    }
}
