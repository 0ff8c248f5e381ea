package winops.spark.analysis

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import winops.spark.plan.{GroupedOperator, InSourceOrder, Keep, Over}
import winops.spark.source.{SourceOrder, WithHistory}

/** Moves the table that a stream starts with up to the operator that processes its rows. The rule
  * runs after the operators are resolved.
  */
object HoistHistory extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[WithHistory])) plan
    else {
      val definitions =
        plan.collect { case definition: CTERelationDef => definition.id -> definition }.toMap
      val hoisted = plan.resolveOperatorsUp {
        case operator: GroupedOperator if operator.history.forall(_.until.isDefined) =>
          WithHistory.hoisted(operator.child, definitions, isOfUnion(operator)) match {
            case node: WithHistory => over(operator, node)
            case _ => operator
          }
      }
      if (definitions.isEmpty) hoisted else InSourceOrder.withoutUnused(hoisted)
    }

  /** Returns true if the rows of windows and those that look up are a union. */
  private def isOfUnion(operator: GroupedOperator): Boolean = operator match {
    case keep: Keep => keep.asking.isDefined
    case _: Over => false
  }

  private def over(operator: GroupedOperator, node: WithHistory): LogicalPlan = {
    CheckHistory.operator(operator, node)
    if (operator.spec.needsSourceOrder) {
      SourceOrder.of(node.history).left.foreach { below =>
        throw SourceOrder.required(below.nodeName)
      }
    }
    operator.withNewChildren(Seq(node.cutAt(operator.time)))
  }
}
