package winops.spark.analysis

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, FunctionTableSubqueryArgumentExpression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.{ArrayData, IntervalUtils, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import winops.policy.Parameter
import winops.spark.internal.WinopsErrors
import winops.spark.plan.Output
import winops.terms.Origin
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect

/** Parses and type-checks the arguments of a call of the table function `keep`.
  *
  * @param expressions
  *   the arguments of the call, positional ones first
  */
final class Arguments(expressions: Seq[Expression]) {
  import Arguments._

  private val (positional, named) = expressions.span(!_.isInstanceOf[NamedArgumentExpression])

  private val byName: Map[String, Expression] = named.map {
    case NamedArgumentExpression(name, value) if Names.contains(lower(name)) =>
      lower(name) -> value
    case NamedArgumentExpression(name, _) =>
      throw WinopsErrors.argument(
        "UNKNOWN",
        name,
        OtherNames.getOrElse(lower(name), Names.mkString("one of ", ", ", "")))
    case other =>
      throw WinopsErrors.argument("UNKNOWN", other.sql, "only named arguments after a named one")
  }.toMap

  named.groupBy(argument => lower(argument.asInstanceOf[NamedArgumentExpression].key)).foreach {
    case (name, given) if given.size > 1 || name == "policy" && positional.size > 1 =>
      throw WinopsErrors.argument("DUPLICATE", name, "each argument once")
    case _ =>
  }

  if (positional.size > 2) {
    throw WinopsErrors.argument(
      "UNKNOWN",
      positional(2).sql,
      "TABLE(name), a policy, and then named arguments")
  }

  val table: FunctionTableSubqueryArgumentExpression = positional.headOption match {
    case Some(table: FunctionTableSubqueryArgumentExpression) => table
    case _ => throw WinopsErrors.argument("MISSING", "table", "TABLE(name) as the first argument")
  }

  /** The dialect and the text of the policy. Text without a named dialect is CCL. The empty text
    * is a valid policy of CCL.
    */
  def policy: (Dialect, String) = {
    (dialects, unnamed) match {
      case (Seq(), Some(text)) => (Ccl, this.text("policy", text))
      case (Seq(), None) =>
        throw WinopsErrors.argument(
          "MISSING",
          "policy",
          "a text such as 'KEEP 100 ROWS', or 'KEEP ALL' for every row")
      case (Seq(dialect), None) => (dialect, text(dialect.name, byName(dialect.name)))
      case _ => throw severalPolicies
    }
  }

  /** The dialect of several windows, and their texts by window name; `None` without `windows`. */
  def windows: Option[(Dialect, Seq[(String, String)])] = {
    val dialect = oneOf("dialect", Dialects.all)(_.name)
    val requested = texts("windows")
    if (dialect.isDefined && requested.isEmpty) {
      throw WinopsErrors.argument(
        "UNKNOWN",
        "dialect",
        "it together with windows => named_struct('name', 'policy', ...)")
    }
    if (requested.isDefined && (dialects.nonEmpty || unnamed.isDefined)) throw severalPolicies
    requested.map(dialect.getOrElse(Ccl) -> _)
  }

  private def dialects: Seq[Dialect] =
    Dialects.all.filter(dialect => byName.contains(dialect.name))

  private def unnamed: Option[Expression] = positional.lift(1).orElse(byName.get("policy"))

  private def severalPolicies: AnalysisException = {
    val names = ("policy" +: Dialects.all.map(_.name) :+ "windows").mkString(", ")
    WinopsErrors.argument("DUPLICATE", "policy", s"only one of $names")
  }

  /** Returns true if the call has the argument. */
  def isGiven(name: String): Boolean = byName.contains(name)

  /** The text of an argument; `None` if not given. */
  def text(name: String): Option[String] = byName.get(name).map(text(name, _))

  /** The choice whose name an argument has, ignoring case; `None` if not given.
    */
  def oneOf[A](name: String, choices: Seq[A])(nameOf: A => String): Option[A] =
    text(name).map { given =>
      choices.find(choice => lower(nameOf(choice)) == lower(given)).getOrElse {
        throw WinopsErrors.argument(
          "VALUE",
          name,
          choices.map(nameOf).mkString("'", "' or '", "'"))
      }
    }

  /** The texts of an array, or one text; empty if not given. */
  def names(name: String): Seq[String] = byName.get(name).toSeq.flatMap(namesOf(name, _))

  /** Pairs of names: the fields and texts of a struct, or each text of an array with itself;
    * empty if not given.
    */
  def pairs(name: String): Seq[(String, String)] = byName.get(name).toSeq.flatMap { expression =>
    expression.dataType match {
      case _: StructType => texts(name).toSeq.flatten
      case _ => names(name).map(one => one -> one)
    }
  }

  /** A whole number above 0; `None` if not given. */
  def positiveLong(name: String): Option[Long] = byName.get(name).map { expression =>
    whole(value(name, expression)).filter(_ > 0).getOrElse {
      throw WinopsErrors.argument("VALUE", name, "a whole number above 0")
    }
  }

  /** Names and texts of a struct, in the order of its fields. */
  def texts(name: String): Option[Seq[(String, String)]] = byName.get(name).map { expression =>
    def refused = WinopsErrors.argument("VALUE", name, "named_struct('name', 'text', ...)")
    value(name, expression) match {
      case (row: InternalRow, struct: StructType) if struct.nonEmpty =>
        struct.fields.groupBy(_.name).foreach {
          case (twice, fields) if fields.length > 1 =>
            throw WinopsErrors.argument("DUPLICATE", twice, s"each name of $name once")
          case _ =>
        }
        struct.fields.toSeq.zipWithIndex.map { case (field, i) =>
          row.get(i, field.dataType) match {
            case text: UTF8String => field.name -> text.toString
            case _ => throw refused
          }
        }
      case _ => throw refused
    }
  }

  /** Constants by names, from a struct; empty if not given. */
  def constants(name: String): Seq[(String, Literal)] =
    byName.get(name).toSeq.flatMap { expression =>
      value(name, expression) match {
        case (row: InternalRow, struct: StructType) =>
          struct.fields.toSeq.zipWithIndex.map { case (field, i) =>
            field.name -> Literal(row.get(i, field.dataType), field.dataType)
          }
        case _ =>
          throw WinopsErrors.argument("VALUE", name, "named_struct('name', value, ...)")
      }
    }

  /** The plan of a query that is passed as a table. */
  def query(name: String, expected: String = "TABLE(SELECT ... FROM ...)"): Option[LogicalPlan] =
    byName.get(name).map(TableArguments.planOf(name, _, expected))

  /** The instant from which periods are counted; `None` if not given. */
  def origin: Option[Origin] = byName.get("origin").map { expression =>
    val origin = value("origin", expression) match {
      case (text: UTF8String, _: StringType) =>
        Option.when(text.toString.equalsIgnoreCase("first"))(Origin.FirstRow)
      case other =>
        whole(other)
          .filter(millis => -MaxOriginMillis <= millis && millis <= MaxOriginMillis)
          .map(Origin.At(_))
    }
    origin.getOrElse {
      throw WinopsErrors.argument("VALUE", "origin", "milliseconds since the epoch or 'first'")
    }
  }

  /** True or false; `None` if not given. */
  def flag(name: String): Option[Boolean] = byName.get(name).map(flagOf(name, _))

  /** The time in milliseconds after which silent groups are removed; `None` if not given. */
  def idleMillis: Option[Long] = text("idle").map { text =>
    Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(text)))
      .filter(_.months == 0)
      .flatMap(millisOf)
      .filter(_ > 0)
      .getOrElse {
        throw WinopsErrors.argument(
          "VALUE",
          "idle",
          "an interval such as '7 days', of a millisecond or more, without months")
      }
  }

  /** The output mode; `None` if not given. */
  def output: Option[Output] = oneOf("output", Output.all)(_.name)

  /** The values of the policy's parameters; empty if not given. */
  def parameters(name: String): Map[String, Parameter] =
    byName.get(name).fold(Map.empty[String, Parameter])(Arguments.parameters(name, _))

  /** The plan of the table that the stream starts with, instead of `stream`; the plan itself if
    * the call has none.
    */
  def afterHistory(stream: LogicalPlan): LogicalPlan =
    query("history", "TABLE(name)") match {
      case Some(history) =>
        HistoryArguments.of(
          stream,
          history,
          HistoryArguments.emits(byName.get("history_emit"), "history_emit"),
          byName.get("history_until"),
          "history_until")
      case None =>
        Seq("history_emit", "history_until").filter(byName.contains).foreach { name =>
          throw WinopsErrors.argument("UNKNOWN", name, "it together with history => TABLE(name)")
        }
        stream
    }

  private def text(name: String, expression: Expression): String = textOf(name, expression)
}

object Arguments {
  val Names: Seq[String] = Seq("policy") ++ Dialects.all.map(_.name) ++ Seq(
    "windows",
    "dialect",
    "time",
    "apply",
    "params",
    "origin",
    "idle",
    "max_rows",
    "on_null_time",
    "punct",
    "at_end",
    "output",
    "aggregates",
    "order_by",
    "of_windows",
    "mode",
    "max_content",
    "reason",
    "on_change",
    "fill",
    "history",
    "history_emit",
    "history_until",
    "key",
    "op",
    "updates",
    "row_id",
    "late",
    "corrections",
    "buffer",
    "lookup",
    "lookup_on",
    "lookup_time",
    "lookup_before",
    "lookup_how",
    "lookup_contents")

  /** Arguments by other names, such as those that other languages use. */
  private val OtherNames =
    Map("variables" -> "params", "primary_key" -> "key", "operation" -> "op")

  /** The values of a policy's parameters, from a struct, a map or NULL. */
  def parameters(name: String, expression: Expression): Map[String, Parameter] =
    value(name, expression) match {
      case (null, _) => Map.empty
      case (row: InternalRow, struct: StructType) =>
        struct.fields.zipWithIndex.map { case (field, i) =>
          field.name -> parameter(name, row.get(i, field.dataType), field.dataType)
        }.toMap
      case (map: MapData, MapType(_: StringType, valueType, _)) =>
        (0 until map.numElements()).map { i =>
          map.keyArray().getUTF8String(i).toString ->
            parameter(name, map.valueArray().get(i, valueType), valueType)
        }.toMap
      case _ => throw WinopsErrors.argument("VALUE", name, "named_struct('name', value, ...)")
    }

  private[spark] def textOf(name: String, expression: Expression): String =
    value(name, expression) match {
      case (text: UTF8String, _: StringType) => text.toString
      case _ => throw WinopsErrors.argument("VALUE", name, "a string")
    }

  /** The texts of an array, or one text. */
  private[spark] def namesOf(name: String, expression: Expression): Seq[String] = {
    val found = value(name, expression) match {
      case (text: UTF8String, _: StringType) => Seq(text.toString)
      case (array: ArrayData, ArrayType(_: StringType, _)) =>
        array.toSeq[UTF8String](StringType).filter(_ != null).map(_.toString)
      case _ => Nil
    }
    if (found.isEmpty) {
      throw WinopsErrors.argument("VALUE", name, "the names of columns, such as ARRAY('id')")
    }
    found
  }

  private[spark] def flagOf(name: String, expression: Expression): Boolean =
    value(name, expression) match {
      case (flag: Boolean, BooleanType) => flag
      case _ => throw WinopsErrors.argument("VALUE", name, "true or false")
    }

  private[spark] def wholeOf(name: String, expression: Expression): Option[Long] =
    whole(value(name, expression))

  // Times are microseconds in 64 bits. The limit leaves room for adding an interval.
  private val MaxOriginMillis = Long.MaxValue / 1000 / 4

  private def millisOf(interval: CalendarInterval): Option[Long] =
    try Some(IntervalUtils.getDuration(interval, TimeUnit.MILLISECONDS))
    catch { case _: ArithmeticException => None }

  private def lower(name: String): String = name.toLowerCase(java.util.Locale.ROOT)

  private def value(name: String, expression: Expression): (Any, DataType) = {
    if (!expression.foldable) {
      throw WinopsErrors.argument("VALUE", name, "a constant, not an expression over columns")
    }
    (expression.eval(), expression.dataType)
  }

  private def whole(value: (Any, DataType)): Option[Long] = value match {
    case (number: Byte, ByteType) => Some(number.toLong)
    case (number: Short, ShortType) => Some(number.toLong)
    case (number: Int, IntegerType) => Some(number.toLong)
    case (number: Long, LongType) => Some(number)
    case _ => None
  }

  private def parameter(argument: String, value: Any, dataType: DataType): Parameter =
    (value, dataType) match {
      case (text: UTF8String, _: StringType) => Parameter.Text(text.toString)
      case (number: Decimal, _: DecimalType) => Parameter.Fraction(number.toBigDecimal)
      case (number: Double, DoubleType) if !number.isNaN && !number.isInfinite =>
        Parameter.Fraction(BigDecimal(number))
      case (number: Float, FloatType) if !number.isNaN && !number.isInfinite =>
        Parameter.Fraction(BigDecimal(number.toString))
      case other =>
        whole(other).map(Parameter.Whole).getOrElse {
          throw WinopsErrors.argument("VALUE", argument, "strings and finite numbers as values")
        }
    }
}
