package winops

import winops.spark.internal.WinopsErrors

/** The policy of a call, which may be written with keywords instead of a text.
  *
  * @param requested
  *   the policy of the caller
  * @param options
  *   all other arguments of the caller by their names
  */
private[winops] final class Keywords(requested: Option[WindowPolicy], options: Map[String, Any]) {
  import Keywords._

  val policy: WindowPolicy = requested.fold(written) { policy =>
    if (Names.exists(options.contains)) {
      throw WinopsErrors.argument(
        "DUPLICATE",
        "policy",
        "either a policy, whose text defines the whole window, or rows, slack, interval and every")
    }
    policy
  }

  /** The values of the names in the policy's text. */
  val params: Map[String, Any] = options.get("params") match {
    case Some(_) if requested.isEmpty =>
      throw WinopsErrors.argument("UNKNOWN", "params", "it together with a policy")
    case Some(values) => values.asInstanceOf[Map[String, Any]]
    case None => options.get(Time).map(Time -> _).toMap
  }

  private def written: WindowPolicy = {
    val opening = if (options.contains("every")) "KEEP EVERY" else "KEEP"
    val slack = options.get("slack").fold("")(number => s" SLACK $number")
    (options.get("rows"), options.get(Time)) match {
      case (Some(number), None) => s"$opening $number ROWS$slack"
      case (None, Some(_)) if slack.nonEmpty =>
        throw WinopsErrors.argument("UNKNOWN", "slack", "it together with rows")
      case (None, Some(_)) => s"""$opening "$Time""""
      case _ =>
        throw WinopsErrors.argument(
          "MISSING",
          "policy",
          """one of a policy such as "KEEP 100 ROWS", rows = 100 and interval = "10 minutes"; """ +
            """to keep every row, "KEEP ALL"""")
    }
  }
}

private[winops] object Keywords {
  private val Time = "interval"

  /** The arguments that describe a window without a policy. */
  val Names: Set[String] = Set("rows", "slack", Time, "every")
}
