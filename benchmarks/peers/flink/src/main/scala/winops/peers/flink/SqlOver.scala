package winops.peers.flink

import org.apache.flink.api.common.functions.MapFunction
import org.apache.flink.streaming.api.datastream.{DataStream, SingleOutputStreamOperator}
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.table.api.{DataTypes, Schema}
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment
import org.apache.flink.table.data.{GenericRowData, RowData}
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo
import org.apache.flink.table.types.logical.{BigIntType, DoubleType, LogicalType}

/** Flink SQL's OVER, in event time: mean, least and greatest price of the last rows of each key,
  * at each row. Rows are passed in Flink SQL's own form.
  */
object SqlOver {
  def lastRows(
      environment: StreamExecutionEnvironment,
      trades: DataStream[Trade],
      rows: Int): SingleOutputStreamOperator[Answer] = {
    val tables = StreamTableEnvironment.create(environment)
    val columns = trades
      .map(new ToColumns)
      .returns(
        InternalTypeInfo.ofFields(
          Array[LogicalType](new BigIntType, new BigIntType, new DoubleType, new BigIntType),
          Array("k", "seq", "price", "qty")))
    tables.createTemporaryView(
      "trades",
      columns,
      Schema
        .newBuilder()
        .columnByMetadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
        .watermark("ts", "SOURCE_WATERMARK()")
        .build())
    val answers = tables.sqlQuery(s"""
      SELECT k, seq, price, qty, AVG(price) OVER w, MIN(price) OVER w, MAX(price) OVER w
      FROM trades
      WINDOW w AS (
        PARTITION BY k ORDER BY ts ROWS BETWEEN ${rows - 1} PRECEDING AND CURRENT ROW)""")
    val long = DataTypes.BIGINT()
    val double = DataTypes.DOUBLE()
    val row = DataTypes.ROW(long, long, double, long, double, double, double)
    tables
      .toDataStream[RowData](answers, row.bridgedTo(classOf[RowData]))
      .map(new ToAnswer)
  }

  private class ToColumns extends MapFunction[Trade, RowData] {
    override def map(trade: Trade): RowData = {
      val row = new GenericRowData(4)
      row.setField(0, trade.key)
      row.setField(1, trade.seq)
      row.setField(2, trade.price)
      row.setField(3, trade.qty)
      row
    }
  }

  private class ToAnswer extends MapFunction[RowData, Answer] {
    @transient private lazy val trade = new Trade
    @transient private lazy val answer = new Answer

    override def map(row: RowData): Answer = {
      trade.set(row.getLong(0), row.getLong(1), row.getDouble(2), row.getLong(3), 0L)
      answer.averaged(trade, row.getDouble(4), row.getDouble(5), row.getDouble(6))
    }
  }
}
