package winops.text.esper

/** What was read, and the one spelling of the parameters that it was read from. */
private[esper] final case class Written[+T](value: T, text: Seq[String]) {
  def map[U](f: T => U): Written[U] = Written(f(value), text)
}

private[esper] object Written {
  def all[T](each: Seq[Written[T]]): Written[Seq[T]] =
    Written(each.map(_.value), each.flatMap(_.text))
}
