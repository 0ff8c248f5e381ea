package winops.storage.btree

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

class PageChangesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PageChangesSuite._

  test("a page is read with its changes as it was written") {
    forAll(
      Gen.long,
      Gen.oneOf(1, 3, 20, 200),
      Gen.oneOf(0, 1, 3, 20, 100),
      Gen.oneOf(true, false)) { (seed, count, changes, isLeaf) =>
      val random = new Random(seed)
      var (page, bytes) = storedPage(random, count, isLeaf)
      (1 to 3).foreach { times =>
        (0 until changes).foreach(_ => change(page, random))
        // An inner page without children is not stored.
        if (page.knowsBase && (isLeaf || page.count > 0)) {
          val changesBytes = writtenChanges(page)
          val content = PackedPageSuite.contentOf(page)
          page = withChanges(bytes, changesBytes)
          assert(PackedPageSuite.contentOf(page) == content)
          assert(page.base.times == times || changes == 0)
        }
      }
    }
  }

  test("a row that is removed takes one byte, and a value that is replaced what differs") {
    val (page, _) = storedPage(Seq.tabulate(60)(i => Array(i.toByte) -> new Array[Byte](40)))
    val header = writtenChanges(page).length
    page.remove(7)
    assert(writtenChanges(page).length == header + 1)
    val value = new Array[Byte](40)
    value(39) = 1
    page.replace(20, value)
    // The operation, half a byte for each of six words, and the byte.
    assert(writtenChanges(page).length == header + 1 + 1 + 3 + 1)
  }

  test("an entry keeps its bytes while changes are written from the base") {
    val (page, bytes) = storedPage(Seq.tabulate(60)(i => Array(i.toByte) -> new Array[Byte](9)))
    page.remove(59)
    page.insert(59, Array[Byte](59), Array.fill(9)(7.toByte))
    page.replace(59, Array.fill(9)(8.toByte))
    page.replace(3, Array.fill(9)(9.toByte))
    val content = PackedPageSuite.contentOf(page)
    assert(PackedPageSuite.contentOf(withChanges(bytes, writtenChanges(page))) == content)
  }

  test("a page that has lost most of its entries need not have room for them") {
    val (page, _) = storedPage(Seq.tabulate(200)(i => Array(i.toByte) -> new Array[Byte](60)))
    (0 until 190).foreach(_ => page.remove(0))
    (0 until 1000).foreach { i =>
      page.remove(0)
      page.insert(0, Array(i.toByte), new Array[Byte](i % 60))
    }
    assert(!page.knowsBase)
    // Twice the bytes of 200 entries of 70. Measured: 1,260.
    assert(page.bytes.length <= 200 * 70 * 2)
  }

  test("changes that do not fit the page are refused") {
    val (page, bytes) = storedPage(Seq.tabulate(10)(i => Array(i.toByte) -> Array.emptyByteArray))
    val size = page.base.bytes.toLong
    def refused(version: Int, numbers: Seq[Long], operations: Seq[Int]): Unit = {
      val out = new ByteWriter
      out.byte(version)
      numbers.foreach(out.number)
      operations.foreach(out.byte)
      intercept[CorruptStateException](withChanges(bytes, out.toArray))
    }
    val remove = PageChanges.Remove
    refused(2, Seq(size, 1, 0), Nil)
    refused(1, Seq(size + 1, 1, 0), Nil)
    refused(1, Seq(size, 0, 0), Nil)
    refused(1, Seq(size, 1, 1), Nil)
    refused(1, Seq(size, 1, 0), Seq(remove))
    refused(1, Seq(size, 1, 11), Seq.fill(11)(remove))
    refused(1, Seq(size, 1, 1), Seq(11 << PageChanges.Bits | remove))
    refused(1, Seq(size, 1, 1), Seq(10 << PageChanges.Bits | PageChanges.Replace))
    refused(1, Seq(size, 1, 1), Seq(PageChanges.InsertAlike))
    // Another entry of the key 0 before the first.
    refused(1, Seq(size, 1, 1), Seq(PageChanges.Insert, 2, 0, 0))
    // A key and a value longer than the bytes that follow.
    refused(1, Seq(size, 1, 1), Seq(PageChanges.Insert, 126, 126, 0))
    refused(1, Seq(size, 1, 1), Seq(PageChanges.Insert, 1, 0, 0))
  }

  test("a page has no more entries than a page may have, and an inner page has children") {
    val (inner, innerBytes) = storedPage(new Random(1), 1, isLeaf = false)
    inner.remove(0)
    intercept[CorruptStateException](withChanges(innerBytes, writtenChanges(inner)))
    val keys = Seq.tabulate(Page.MaxEntries)(i => PagedMapSuite.ordinal(2 * i))
    val (page, bytes) = storedPage(keys.map(_ -> Array.emptyByteArray))
    page.insert(1, PagedMapSuite.ordinal(1), Array.emptyByteArray)
    intercept[CorruptStateException](withChanges(bytes, writtenChanges(page)))
  }

  test("changes that were changed or cut off are refused, or read as others in order") {
    val random = new Random(5)
    val refused = (0 until 3000).count { _ =>
      val (page, bytes) = storedPage(random, 1 + random.nextInt(20), random.nextBoolean())
      (0 until 10).foreach(_ => change(page, random))
      page.count > 0 && page.knowsBase && {
        val changes = writtenChanges(page)
        val damaged =
          if (random.nextBoolean()) changes.take(random.nextInt(changes.length))
          else changes.updated(random.nextInt(changes.length), random.nextInt(256).toByte)
        try {
          val read = withChanges(bytes, damaged)
          assert((0 until read.count).forall(i => !read.isLeaf || read.search(read.key(i)) == i))
          false
        } catch {
          case _: CorruptStateException => true
        }
      }
    }
    // Measured: 1,883 of 3,000. Other damage is read as other entries.
    assert(refused > 1000)
  }
}

private object PageChangesSuite {

  /** A page as it is read, and its stored bytes. */
  private def storedPage(random: Random, count: Int, isLeaf: Boolean): (Page, Array[Byte]) =
    stored(PackedPageSuite.pageOf(random, count, 30, isLeaf))

  private def storedPage(entries: Seq[(Array[Byte], Array[Byte])]): (Page, Array[Byte]) = {
    val page = new Page(1, isLeaf = true)
    entries.zipWithIndex.foreach { case ((key, value), i) => page.insert(i, key, value) }
    stored(page)
  }

  private def stored(page: Page): (Page, Array[Byte]) = {
    val out = new ByteWriter
    PackedPage.write(page, mayChange = true, out)
    (PackedPage.read(1, new ByteReader(out.toArray)), out.toArray)
  }

  private def writtenChanges(page: Page): Array[Byte] = {
    val out = new ByteWriter
    new PageChangesWriter().write(page, out)
    out.toArray
  }

  private def withChanges(bytes: Array[Byte], changes: Array[Byte]): Page =
    new PageChangesReader(PackedPage.read(1, new ByteReader(bytes)), new ByteReader(changes))
      .read()

  /** Removes, replaces or inserts a random entry. */
  private def change(page: Page, random: Random): Unit = {
    val index = if (page.count == 0) 0 else random.nextInt(page.count)
    random.nextInt(4) match {
      case 0 if page.count > 0 => page.remove(index)
      case 1 if page.count > 0 && page.isLeaf =>
        val isAlike = random.nextBoolean()
        val length = if (isAlike) page.valueLength(index) else random.nextInt(30)
        page.replace(index, random.nextBytes(length))
      case _ if page.count < Page.MaxEntries =>
        val key = PagedMapSuite.ordinal(random.nextInt(1 << 20)) ++
          random.nextBytes(if (random.nextBoolean()) 9 else random.nextInt(10))
        insert(page, key, random)
      case _ =>
    }
  }

  private def insert(page: Page, key: Array[Byte], random: Random): Unit =
    if (page.isLeaf) {
      val found = page.search(key)
      if (found < 0) page.insert(-1 - found, key, random.nextBytes(random.nextInt(30)))
    } else if (page.count == 0) page.insert(0, key, child = 1L)
    else {
      // The first key of an inner page is less than all others.
      val before = page.childIndexOf(key)
      if (before == 0 || !page.key(before).sameElements(key)) {
        page.insert(before + 1, key, random.nextInt(1000).toLong)
      }
    }
}
