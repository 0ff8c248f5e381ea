package winops.spark.restart

/** The fields of the identity of a query, which is stored with its checkpoint. */
private[spark] object IdentityFields {
  val Dialect = "dialect"
  val Policy = "policy"

  /** The class of windows that differ in their length only. */
  val Lengths = "lengths"
  val Punctuation = "punctuation"
  val Across = "across"
  val Group = "group"

  /** The types of the group key. */
  val Keys = "keys"
  val Order = "order"
  val Time = "time"
  val Apply = "apply"
  val Zone = "zone"
  val Arguments = "arguments"
  val Columns = "columns"
  val Format = "format"
  val ExactFloats = "exact_floats"

  /** The results: expressions that divide the aggregates, then the aggregates; or the window
    * functions.
    */
  val Results = "results"

  /** True in the identity of Spark's own window functions. */
  val Over = "over"

  /** True in the identity if waiting rows have the column that `SourcePartitions` adds. */
  val SourcePartition = "source_partition"

  /** The names of the columns that the policy, the group, the order and the time read. */
  val Reads = "reads"

  /** True if groups share state. */
  val CrossGroup = "cross_group"

  /** The forms in which window functions are stored. */
  val Frames = "frames"

  /** True if the policy emits inserts only or deletes only, and numbers these. Aggregates number
    * both.
    */
  val OneSided = "one_sided"

  /** The columns of the primary key, and the column of the operation. */
  val Key = "key"
  val Operation = "op"

  /** The number of rows behind the window, if evicted rows return into it. */
  val Buffer = "buffer"

  /** True if the groups are whole although the policy could be split by key, because the changes
    * have the numbers of rows.
    */
  val Whole = "whole"

  /** The order of rows that look up among those of their time: `at` behind them, or `before`. */
  val Lookup = "lookup"

  /** The columns of which the time and the group key of rows that look up are, each behind the
    * column of the windows. A join has `Join` instead.
    */
  val LookupBy = "lookup_by"

  /** The arguments of an as-of join, in the fields that follow. */
  val Join = "join"
  val JoinDirection = "direction"
  val JoinTolerance = "tolerance"
  val JoinAllowsExact = "allow_exact_matches"
  val JoinTimes = "times"
  val JoinKeys = "keys"
  val JoinConditions = "conditions"

  /** The form in which aggregates are stored. */
  val Aggregates = "aggregates"
}
