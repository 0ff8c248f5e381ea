package winops.spark.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.source.StoredColumns

/** Brings references to columns up to date whose operator below has made them nullable.
  *
  * Spark's own rule does this for the columns, but not for what is in them: the fields of
  * structs, the elements of arrays and the values of maps.
  */
private[spark] object ColumnsOfInput extends Rule[LogicalPlan] {

  /** Returns an expression with the types and nullability of the columns of `input`. */
  def in[A <: Expression](expression: A, input: Seq[Attribute]): A = {
    val columns = AttributeMap(input.map(column => column -> column))
    val replaced = expression.transform {
      case column: Attribute if columns.get(column).exists(differs(column, _)) =>
        as(column, columns(column))
    }
    (if (replaced fastEquals expression) expression else derived(replaced)).asInstanceOf[A]
  }

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.exists(_.isInstanceOf[StoredColumns])) in(plan) else plan

  private def in(plan: LogicalPlan): LogicalPlan = {
    val definitions = mutable.Map.empty[Long, Seq[Attribute]]
    plan.resolveOperatorsUp {
      case definition: CTERelationDef =>
        definitions(definition.id) = definition.output
        definition
      case reference: CTERelationRef if definitions.contains(reference.cteId) =>
        val output = reference.output.zip(definitions(reference.cteId)).map {
          case (column, own) => as(column, own)
        }
        if (output == reference.output) reference else reference.copy(output = output)
      case node if node.resolved && node.children.nonEmpty => ofChildren(node)
    }
  }

  private def ofChildren(node: LogicalPlan): LogicalPlan = {
    val input = node.children.flatMap(_.output)
    val columns = AttributeMap(input.map(column => column -> column))
    if (!node.references.exists(own => columns.get(own).exists(differs(own, _)))) node
    else {
      node.mapExpressions(in(_, input)) match {
        case generate: Generate =>
          val elements = DataTypeUtils.toAttributes(generate.generator.elementSchema)
          generate.copy(generatorOutput = generate.generatorOutput.zip(elements).map {
            case (own, now) => as(own, now)
          })
        case other => other
      }
    }
  }

  /** Renews what expressions have taken from the types of their arguments. The outer functions
    * come first, because the arguments of the inner ones may be their lambda variables.
    */
  private def derived(expression: Expression): Expression = expression.transformDown {
    case function: HigherOrderFunction if function.resolved =>
      function.bind {
        case (lambda: LambdaFunction, arguments) => bound(lambda, arguments)
        case (other, _) => LambdaFunction(other, Nil)
      }
    case fields @ GetArrayStructFields(child, _, ordinal, _, _) =>
      child.dataType match {
        case ArrayType(row: StructType, containsNull) =>
          fields.copy(
            field = row(ordinal).copy(name = fields.field.name),
            containsNull = containsNull || row(ordinal).nullable)
        case _ => fields
      }
    case cast: Cast => cast.copy(dataType = Catalyst.asNullable(cast.dataType))
  }

  private def bound(lambda: LambdaFunction, types: Seq[(DataType, Boolean)]): LambdaFunction = {
    val variables = lambda.arguments.zip(types).map {
      case (variable: NamedLambdaVariable, (dataType, nullable)) =>
        variable.copy(dataType = dataType, nullable = nullable)
      case (other, _) => other
    }
    val known = variables.map(variable => variable.exprId -> variable).toMap
    lambda.copy(
      function = lambda.function.transform {
        case variable: NamedLambdaVariable if known.contains(variable.exprId) =>
          known(variable.exprId)
      },
      arguments = variables)
  }

  private def differs(column: Attribute, own: Attribute): Boolean =
    column.dataType != own.dataType || column.nullable != own.nullable

  private def as(column: Attribute, own: Attribute): Attribute =
    column.withDataType(own.dataType).withNullability(own.nullable)
}
