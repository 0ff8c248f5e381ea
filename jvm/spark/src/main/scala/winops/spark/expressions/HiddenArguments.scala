package winops.spark.expressions

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoder, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

/** Identifies the arguments of expressions that their SQL does not show: schemas, options, types,
  * the variables of lambda functions, the evaluation mode, and the functions of UDFs.
  *
  * An argument with its default value is left out, so that an argument that only later versions
  * of Spark have changes nothing. A default that depends on a setting is that of the setting's
  * default.
  */
object HiddenArguments {

  /** Returns a digest of the hidden arguments of an expression; None if there are none. */
  def digest(expression: Expression): Option[String] = {
    val found = new Collector
    found.collect(expression, "")
    Option.when(found.lines.nonEmpty)(ObjectIdentity.digest(found.lines.toSeq))
  }

  /** Returns an expression whose SQL is the same in each JVM: the variables of lambda functions
    * are numbered, and objects are shown by their class.
    */
  def withStableSql(expression: Expression): Expression = {
    val numbers = mutable.Map.empty[ExprId, Long]
    expression.transform {
      case variable: NamedLambdaVariable =>
        val number = numbers.getOrElseUpdate(variable.exprId, numbers.size.toLong)
        AttributeReference(s"x$number", variable.dataType)(ExprId(number, NoJvm))
      case Literal(value, _: ObjectType) if value != null =>
        Literal(value.getClass.getSimpleName)
    }
  }

  /** Returns true for expressions that are equal, or equal but for the instances of their
    * functions, which a restart creates anew.
    */
  def areSame(one: Expression, other: Expression): Boolean =
    one.semanticEquals(other) || (digest(one).isDefined && digest(one) == digest(other) &&
      withStableSql(one).sql == withStableSql(other).sql && columns(one) == columns(other))

  private def columns(expression: Expression): Seq[ExprId] =
    expression.collect { case column: Attribute => column.exprId }

  /** Marks an expression that a policy makes and whose arguments follow from the policy's text.
    * It has no hidden arguments.
    */
  def ofPolicy[A <: Expression](expression: A): A = {
    expression.setTagValue(OfPolicy, true)
    expression
  }

  private val OfPolicy = TreeNodeTag[Boolean]("winops.policy")

  private val NoJvm = new java.util.UUID(0, 0)

  /** Arguments that say nothing about the values of an expression. */
  private val Unimportant = Set("mutableAggBufferOffset", "inputAggBufferOffset", "nullable")

  private final class Collector {
    val lines = mutable.ArrayBuffer.empty[String]
    private val variables = mutable.Map.empty[ExprId, Int]

    def collect(expression: Expression, path: String): Unit = {
      expression match {
        case variable: NamedLambdaVariable =>
          val number = variables.getOrElseUpdate(variable.exprId, variables.size)
          lines += s"$path variable $number"
        case other => arguments(other).foreach(argument => lines += s"$path $argument")
      }
      expression.children.zipWithIndex.foreach { case (child, i) => collect(child, s"$path/$i") }
    }

    private def arguments(expression: Expression): Seq[String] = expression match {
      case own if own.getTagValue(OfPolicy).isDefined => Nil
      case _: Attribute | _: Alias | _: SortOrder | _: AggregateExpression | _: WindowAggregate |
          _: OfWindow | _: OfLastArrival | _: RedactingExpression | _: GetStructField |
          _: GetArrayStructFields | _: RuntimeReplaceable =>
        Nil
      case Literal(value, _: ObjectType) => text(value.asInstanceOf[AnyRef]).toSeq
      case Literal(_, dataType) => Option.unless(isShown(dataType))(textOf(dataType)).toSeq
      case cast: Cast if isShown(cast.dataType) => named(cast, Set("dataType"))
      case other if other.getClass.getName.startsWith("winops.") =>
        other.productIterator.flatMap(ofOwn).toSeq
      case other => named(other, Set.empty)
    }

    /** The functions that are arguments and no children, as in [[PositionFunction]]. */
    private def ofOwn(argument: Any): Seq[String] = argument match {
      case function: AggregateWindowFunction => named(function, Set.empty)
      case _ => Nil
    }

    private def named(product: Product, shown: Set[String]): Seq[String] = {
      val omitted = shown ++ Unimportant ++ (product match {
        case _: TimeZoneAwareExpression => Set("timeZoneId")
        case _ => Set.empty
      })
      val defaults = Defaults.get(product.getClass)
      product.productElementNames.zip(product.productIterator).zipWithIndex.toSeq.flatMap {
        case ((name, argument), _) if omitted(name) || holdsExpression(argument) => None
        case ((name, argument), i) =>
          val value = defaults.get(i) match {
            case Some(default) => Option.unless(default == argument)(text(argument).getOrElse(""))
            case None => text(argument)
          }
          value.map(shown => s"${nameOf(name)}=$shown")
      }
    }

    /** Returns true for arguments that are children, or that hold some. */
    private def holdsExpression(argument: Any): Boolean = argument match {
      case _: Expression | _: ExprId => true
      case values: Iterable[_] => values.exists(holdsExpression)
      case Some(value) => holdsExpression(value)
      case pair: (_, _) => pair.productIterator.exists(holdsExpression)
      case _ => false
    }

    // Versions of Spark name the evaluation mode differently.
    private def nameOf(argument: String): String =
      if (argument == "evalMode") "evalContext" else argument

    /** An argument as text that is the same in each JVM; None if there is nothing to tell apart.
      */
    private def text(argument: Any): Option[String] = argument match {
      case null | None | false => None
      case Some(value) => text(value)
      case dataType: DataType => Some(textOf(dataType))
      case field: StructField => Some(textOf(StructType(Seq(field))))
      case encoder: ExpressionEncoder[_] => Some(textOf(encoder.schema))
      case encoder: AgnosticEncoder[_] => Some(textOf(encoder.schema))
      case EvalMode.ANSI => None
      case context: NumericEvalContext =>
        val decimals = Option.unless(context.allowDecimalPrecisionLoss)("without precision loss")
        Option.when(context.evalMode != EvalMode.ANSI || decimals.isDefined) {
          (context.evalMode.toString +: decimals.toSeq).mkString(" ")
        }
      case options: collection.Map[_, _] =>
        val entries = options.toSeq.map { case (key, value) =>
          s"${text(key).getOrElse("")}:${text(value).getOrElse("")}"
        }
        Option.when(entries.nonEmpty)(entries.sorted.mkString("{", ",", "}"))
      case values: Iterable[_] => ofEach(values.toSeq)
      case values: Array[_] => ofEach(values.toSeq)
      case one: Class[_] => Some(one.getName)
      case one: Enum[_] => Some(one.name)
      case one: scala.Enumeration#Value => Some(one.toString)
      case one @ (_: String | _: Number | true | _: Character) => Some(quoted(one.toString))
      case one: org.apache.spark.unsafe.types.UTF8String => Some(quoted(one.toString))
      case one: Product if one.getClass.getName.startsWith("org.apache.spark.") =>
        Some(named(one, Set.empty).mkString(s"${one.getClass.getName}(", ",", ")"))
      case other: AnyRef => Some(ObjectIdentity.of(other))
      case other => Some(other.toString)
    }

    private def ofEach(values: Seq[Any]): Option[String] = {
      val texts = values.map(text)
      Option.when(texts.exists(_.isDefined)) {
        texts.map(_.getOrElse("")).mkString("[", ",", "]")
      }
    }

    private def quoted(text: String): String =
      "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
  }

  private def textOf(dataType: DataType): String = Catalyst.asNullable(dataType).json

  /** Returns true for types of which SQL shows everything. */
  private def isShown(dataType: DataType): Boolean = !Catalyst.exists(dataType) {
    case _: UserDefinedType[_] | _: ObjectType => true
    case text: StringType => text != StringType
    case StructType(fields) => fields.exists(_.metadata != Metadata.empty)
    case _ => false
  }

  /** The default values of the arguments of a case class by their places, under the defaults of
    * all settings. They are looked up once, because every micro-batch identifies its query.
    */
  private object Defaults extends ClassValue[Map[Int, Any]] {
    override protected def computeValue(kind: Class[_]): Map[Int, Any] = {
      val found = for {
        // Later ones replace earlier ones.
        maker <- Seq("$lessinit$greater", "apply").map(name => s"$name$$default$$")
        method <- kind.getMethods.toSeq if method.getName.startsWith(maker)
        value <- Try(SQLConf.withExistingConf(new SQLConf)(method.invoke(null))).toOption
      } yield method.getName.substring(maker.length).toInt - 1 -> value
      found.toMap
    }
  }
}
