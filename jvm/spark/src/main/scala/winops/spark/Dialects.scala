package winops.spark

import winops.apama.Apama
import winops.ccl.Ccl
import winops.dialect.Dialect
import winops.esper.Esper
import winops.spl.Spl

/** The languages of policies; the name of each is the argument that takes its texts. */
object Dialects {
  val all: Seq[Dialect] = Seq(Ccl, Esper, Apama, Spl)

  def named(name: String): Option[Dialect] = all.find(_.name == name)
}
