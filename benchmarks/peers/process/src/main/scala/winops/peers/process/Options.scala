package winops.peers.process

/** Command line options of the form `name=value`. */
final class Options(args: Array[String]) {
  private val values = args.map { arg =>
    val (name, value) = arg.splitAt(arg.indexOf('='))
    name -> value.drop(1)
  }.toMap

  def apply(name: String): String =
    values.getOrElse(name, throw new IllegalArgumentException(s"$name=... is missing"))

  /** The kind of the job: `rows`, `time` or `aggregates`. */
  def job: String = apply("job")

  /** The number of rows or milliseconds. */
  def size: Int = apply("size").toInt
}
