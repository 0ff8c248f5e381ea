package winops.spark.analysis

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import winops.window.changes.ChangeReason

class WindowsPageSuite extends AnyFunSuite {
  test("the page of all windows says what the code says") {
    val root = Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).find { folder =>
      Files.isRegularFile(folder.resolve("build.sbt"))
    }
    val written = Files.readString(root.get.resolve("docs/windows.md"))
    assert(written == WindowsPage.text, "run `make docs`")
  }

  test("the page has every reason") {
    assert(WindowsPage.Meanings.map(_._1).sorted == ChangeReason.Names.sorted)
  }

  test("every dialect lists its windows once") {
    Dialects.all.foreach { dialect =>
      val names = dialect.windows.map(_.name)
      assert(names.nonEmpty && names.distinct == names)
    }
  }
}
