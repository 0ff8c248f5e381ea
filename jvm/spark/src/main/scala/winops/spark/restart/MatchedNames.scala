package winops.spark.restart

import org.apache.spark.sql.internal.SQLConf

/** Matches the columns of two queries, or the fields of two structs, by their names. Several of
  * one name are matched in their order. One without a match is that with its name in another
  * case, if the case of names does not matter and each side has only one such name.
  */
private[restart] object MatchedNames {

  /** For each of `names`, the place of its match among `others`; -1 if it has none. */
  def places(names: Seq[String], others: Seq[String]): Seq[Int] = {
    val byKey = numbered(others).zipWithIndex.toMap
    numbered(names).map { case key @ (name, _) =>
      byKey.getOrElse(key, inOtherCase(name, names, others))
    }
  }

  private def numbered(names: Seq[String]): Seq[(String, Int)] =
    names.zipWithIndex.map { case (name, i) => name -> names.take(i).count(_ == name) }

  private def inOtherCase(name: String, names: Seq[String], others: Seq[String]): Int = {
    def isSame(other: String) = SQLConf.get.resolver(name, other)
    if (names.count(isSame) == 1 && others.count(isSame) == 1) others.indexWhere(isSame) else -1
  }
}
