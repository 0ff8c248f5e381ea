package winops.spark.internal

/** The largest of the groups that one or more tasks have processed in a micro-batch.
  *
  * @param rows
  *   the number of rows of the largest group; 0 if no group was processed
  * @param groups
  *   the largest groups, the largest first
  */
final case class GroupSizes(rows: Long, groups: Seq[GroupSize]) {

  /** The sizes of both, with at most [[GroupSizes.MaxGroups]] groups. A task that ran twice has
    * reported the same groups twice.
    */
  def ++(other: GroupSizes): GroupSizes = GroupSizes(
    Math.max(rows, other.rows),
    (groups ++ other.groups)
      .sortBy(group => (-group.rows, group.key))
      .distinctBy(_.key)
      .take(GroupSizes.MaxGroups))
}

object GroupSizes {

  /** The number of groups that a task reports, and that remain after a merge. */
  val MaxGroups = 5

  /** The number of characters of a group key that are shown. */
  val MaxKey = 80

  val Empty: GroupSizes = GroupSizes(0L, Nil)
}
