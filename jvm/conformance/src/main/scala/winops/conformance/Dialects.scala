package winops.conformance

import winops.ccl.Ccl
import winops.policy.Dialect

/** The dialects whose cases can be run. */
private[conformance] object Dialects {
  private val all: Map[String, Dialect] = Seq(Ccl).map(d => d.name -> d).toMap

  def named(name: String): Option[Dialect] = all.get(name)
}
