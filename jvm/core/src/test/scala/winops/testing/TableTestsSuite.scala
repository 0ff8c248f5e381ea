package winops.testing

class TableTestsSuite extends TableTests {
  test("a table with no cases is refused, as it would register no test") {
    intercept[IllegalArgumentException](testEach[Int]("a table")()(_ => fail()))
  }
}
