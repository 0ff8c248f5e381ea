package winops.spark.plan

/** The arguments of an as-of join that decide which rows its state holds, as texts. A restart
  * compares them.
  *
  * @param direction
  *   the direction of the match
  * @param tolerance
  *   the tolerance of a join whose rows wait for it; other joins test it when a row is joined
  * @param allowsExact
  *   true if a row of the same time matches; none for a join that tests it when a row is joined
  * @param times
  *   the time columns of both sides
  * @param keys
  *   pairs of equal expressions of both sides
  * @param conditions
  *   the conditions over the right side
  */
final case class JoinForm(
    direction: String,
    tolerance: Option[String] = None,
    allowsExact: Option[Boolean] = None,
    times: String = "",
    keys: Seq[String] = Nil,
    conditions: Seq[String] = Nil)
