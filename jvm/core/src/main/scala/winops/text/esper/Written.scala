package winops.text.esper

/** A parsed value with its canonical text.
  *
  * @param value
  *   value of the parameters
  * @param text
  *   canonical texts of the parameters
  */
private[esper] final case class Written[+T](value: T, text: Seq[String]) {
  def map[U](f: T => U): Written[U] = Written(f(value), text)
}

private[esper] object Written {
  def all[T](each: Seq[Written[T]]): Written[Seq[T]] =
    Written(each.map(_.value), each.flatMap(_.text))
}
