package winops.spark.execution

import org.apache.spark.util.AccumulatorV2

import winops.spark.internal.GroupSizes

/** Accumulates the largest groups that the tasks report. */
final class GroupSizesAccumulator extends AccumulatorV2[GroupSizes, GroupSizes] {
  private var sizes = GroupSizes.Empty

  override def isZero: Boolean = sizes == GroupSizes.Empty
  override def reset(): Unit = sizes = GroupSizes.Empty
  override def add(more: GroupSizes): Unit = sizes = sizes ++ more
  override def merge(other: AccumulatorV2[GroupSizes, GroupSizes]): Unit = add(other.value)
  override def value: GroupSizes = sizes

  override def copy(): GroupSizesAccumulator = {
    val other = new GroupSizesAccumulator
    other.add(sizes)
    other
  }
}
