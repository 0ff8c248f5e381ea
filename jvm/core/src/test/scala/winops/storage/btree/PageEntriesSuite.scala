package winops.storage.btree

import org.scalatest.funsuite.AnyFunSuite

class PageEntriesSuite extends AnyFunSuite {
  test("a page does not grow by values that others take the place of") {
    val page = new Page(1, isLeaf = true)
    (0 until 20).foreach(i => page.insert(i, PagedMapSuite.ordinal(i), new Array[Byte](20)))
    (0 until 10000).foreach(i => page.replace(i % 20, new Array[Byte](20 + i % 7)))
    assert(page.bytes.length < 4 * 20 * 40)
  }

  test("an entry can be read where it was, when the page has made room for others") {
    val page = new Page(1, isLeaf = true)
    page.insert(0, PagedMapSuite.ordinal(0), Array[Byte](1, 2, 3))
    val (bytes, at) = (page.bytes, page.valueAt(0))
    (1 until 100).foreach(i => page.insert(i, PagedMapSuite.ordinal(i), new Array[Byte](20)))
    page.remove(0)
    assert(page.bytes ne bytes)
    assert(bytes.slice(at, at + 3).sameElements(Array[Byte](1, 2, 3)))
  }

  test("a giant row has no room beside it that nothing will need") {
    val page = new Page(1, isLeaf = true)
    page.insert(0, PagedMapSuite.ordinal(0), new Array[Byte](1000000))
    // Measured: 1,000,016, of which the row is 1,000,000.
    assert(page.bytes.length < 1000100)
  }
}
