package winops.storage.btree

import org.scalatest.funsuite.AnyFunSuite

import winops.storage.bytes.{Bytes, HeapSegments, Segments}

class PageMemorySuite extends AnyFunSuite {
  import PageMemorySuite._

  private val limit = 200000L

  test("the loaded pages and values of all maps together stay within the bound") {
    val memory = new PageMemory(limit)
    val pages = Seq.fill(3)(new Pages(new HeapSegments, memory))
    val maps = pages.flatMap(one => Seq(one.newMap(), one.newMap()))
    val values = pages.map(_.newValues())
    var most = 0L
    def check(): Unit = most = Math.max(most, pages.map(_.loadedBytes).sum)
    (0 until 20000).foreach { i =>
      maps(i % maps.size).put(keyOf(i * 7919 % 20000), new Array[Byte](100))
      if (i % 4 == 0) values(i % 3).put(1, i.toLong, new Array[Byte](50))
      check()
    }
    maps.foreach { map =>
      var more = map.first()
      while (more) {
        check()
        more = map.next()
      }
    }
    (0 until 20000).foreach { i =>
      assert(values(i % 3).get(1, i.toLong) == null || i % 4 == 0)
      check()
    }
    // A page of 8 KiB may have an array of twice the size.
    assert(most > limit / 2 && most <= 2 * limit, most)
    assert(maps.map(_.size).sum == 20000)
  }

  test("within the bound each page is written once, when the group is saved") {
    val segments = new CountedSegments
    val memory = new PageMemory(10000000L)
    val pages = new Pages(segments, memory)
    val map = pages.newMap()
    (0 until 5000).foreach(i => map.put(keyOf(i * 7919 % 5000), new Array[Byte](100)))
    assert(segments.puts == 0 && memory.timesUnloaded == 0)
    pages.settle()
    assert(segments.puts == segments.kept.size)
  }

  test("a cleared map leaves no page, loaded or stored") {
    val memory = new PageMemory(limit)
    val segments = new HeapSegments
    val pages = new Pages(segments, memory)
    val map = pages.newMap()
    (0 until 20000).foreach(i => map.put(keyOf(i), new Array[Byte](100)))
    pages.unload()
    val before = memory.timesUnloaded
    map.clear()
    assert(pages.loadedBytes == 0)
    pages.settle()
    assert(segments.size == 0 && memory.timesUnloaded == before)
  }

  test("values that were unloaded are found again, removed and counted") {
    val segments = new HeapSegments
    val pages = new Pages(segments, new PageMemory(0L))
    val values = pages.newValues()
    (0 until 1000).foreach(i => values.put(2, i.toLong, Array(i.toByte)))
    assert((0 until 1000).forall(i => values.get(2, i.toLong).toSeq == Seq(i.toByte)))
    values.removeBefore(2, 500L)
    assert((500 until 1000).forall(i => values.get(2, i.toLong).toSeq == Seq(i.toByte)))
    assert(values.get(2, 400L) == null)
    values.clear()
    pages.settle()
    assert(segments.size == 0)
  }
}

private object PageMemorySuite {

  final class CountedSegments extends Segments {
    val kept = new HeapSegments
    var puts = 0

    override def get(number: Long): Array[Byte] = kept.get(number)
    override def remove(number: Long): Unit = kept.remove(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = {
      puts += 1
      kept.put(number, bytes)
    }
  }

  def keyOf(number: Int): Array[Byte] = {
    val key = new Array[Byte](8)
    Bytes.putLong(key, 0, java.lang.Long.reverseBytes(number.toLong))
    key
  }
}
