package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}

/** Inlines common expressions, which Spark defines once and refers to by id. */
private[spark] object CommonExpressions {

  /** Replaces references to common expressions by their definitions. */
  val inPlace: PartialFunction[Expression, Expression] = { case With(child, definitions) =>
    val meanings = definitions.map(definition => definition.id -> definition.child).toMap
    child.transform { case reference: CommonExpressionRef =>
      meanings.getOrElse(reference.id, reference)
    }
  }
}
