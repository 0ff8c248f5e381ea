package winops.text.spl

import winops.policy.{Category, ColumnKind, Scope}
import winops.terms.{Distance, RowExpression}
import winops.text.dialect.{ColumnName, Columns, Decimals, Intervals, Names, Problem, Token, Value}

/** A delta whose attribute has not been looked up.
  *
  * @param size
  *   distance, not negative
  * @param offset
  *   place of the size
  */
private[spl] final case class WrittenDelta(attribute: ColumnName, size: Value, offset: Int)

/** Looks up the attributes of a clause and the kinds of their values.
  *
  * @param scope
  *   gives the columns and their kinds
  * @param row
  *   name of a tuple that may precede its attributes
  */
private[spl] final class Attributes(scope: Scope, row: Option[Token.Named]) {
  private val known = new Columns(scope, row)

  def columns(names: Seq[ColumnName]): Either[Problem, Seq[RowExpression.Column]] =
    known.columns(names)

  def shape(written: Shape[WrittenDelta]): Either[Problem, Shape[Delta]] = written match {
    case Shape.Tumbling(eviction) => extent(eviction).map(Shape.Tumbling(_))
    case Shape.Punctuated => Right(Shape.Punctuated)
    case Shape.Sliding(eviction, trigger) =>
      for { e <- extent(eviction); t <- extent(trigger) } yield Shape.Sliding(e, t)
  }

  private def extent(written: Extent[WrittenDelta]): Either[Problem, Extent[Delta]] =
    written match {
      case count: Extent.Count => Right(count)
      case time: Extent.Time => Right(time)
      case Extent.Attribute(delta) =>
        known.column(delta.attribute).flatMap(measured(_, delta)).map(Extent.Attribute(_))
    }

  /** SPL: a delta has the type of its attribute. The delta of a timestamp is in seconds. */
  private def measured(
      attribute: RowExpression.Column,
      delta: WrittenDelta): Either[Problem, Delta] =
    (scope.kinds.get(attribute.name), delta.size) match {
      case (Some(ColumnKind.WholeNumber), Value.Whole(size)) =>
        Right(Delta(attribute, Distance.Whole(size), size.toString))
      case (Some(ColumnKind.WholeNumber), Value.Fraction(size, _)) if size.isWhole =>
        Value.whole(size.toBigInt, delta.offset).map { whole =>
          Delta(attribute, Distance.Whole(whole.value), whole.value.toString)
        }
      case (Some(ColumnKind.WholeNumber), Value.Fraction(_, source)) =>
        val holds = s"${Names.shown(attribute.name)} holds whole numbers"
        Left(Problem(Category.Type, source, s"expected a whole number; $holds"))
      case (Some(ColumnKind.RealNumber), size) =>
        val exact = Value.decimal(size)
        Right(Delta(attribute, Distance.Real(exact.toDouble), Decimals.fractional(exact)))
      case (Some(ColumnKind.Timestamp), size) =>
        micros(Value.decimal(size), delta.offset).map { micros =>
          Delta(attribute, Distance.Whole(micros), SplPrinter.seconds(micros))
        }
      case (Some(ColumnKind.Other) | None, _) =>
        val name = Names.shown(attribute.name)
        Left(
          Problem(
            Category.Type,
            attribute.offset,
            "expected an attribute that is an integer, a floating-point number or a timestamp; " +
              s"$name is not"))
    }

  private def micros(seconds: BigDecimal, offset: Int): Either[Problem, Long] =
    if (seconds.signum == 0) Right(0L) else Intervals.ofSeconds(seconds, offset)
}
