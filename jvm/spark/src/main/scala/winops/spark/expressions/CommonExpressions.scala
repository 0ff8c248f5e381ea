package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{CommonExpressionRef, Expression, With}

/** Spark writes an expression that it needs twice once, and names it. */
private[spark] object CommonExpressions {

  /** Puts such an expression where its name stands. */
  val inPlace: PartialFunction[Expression, Expression] = { case With(child, definitions) =>
    val meanings = definitions.map(definition => definition.id -> definition.child).toMap
    child.transform { case reference: CommonExpressionRef =>
      meanings.getOrElse(reference.id, reference)
    }
  }
}
