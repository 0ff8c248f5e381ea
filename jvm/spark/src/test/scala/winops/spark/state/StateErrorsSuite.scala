package winops.spark.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.storage.bytes.HeapSegments
import winops.storage.rows.RowLog

/** Errors in state have conditions of winops. */
class StateErrorsSuite extends AnyFunSuite {
  test("rows that do not fit into one array fail by name, with what was expected") {
    val rows = new RowLog(new HeapSegments, withArrival = false)
    val _ = rows.append(0L, 100)
    val refused = intercept[WinopsRuntimeException] {
      StateErrors.translated(rows.append(0L, Int.MaxValue))
    }
    assert(refused.getCondition == "WINOPS_MAX_BYTES")
    assert(refused.getSqlState == "54000")
    val parameters = refused.getMessageParameters
    assert(parameters.get("bytes").toLong > Int.MaxValue.toLong + 100)
    assert(parameters.get("most").toLong == Int.MaxValue - 16)
    assert(refused.getMessage.contains(s"expected: at most ${parameters.get("most")}"))
    assert(rows.size == 1)
  }
}
