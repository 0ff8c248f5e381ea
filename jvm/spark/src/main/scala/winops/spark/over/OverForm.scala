package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import winops.spark.expressions.{CommonExpressions, UnqualifiedSql}
import winops.spark.plan.{FramedFunction, Over}
import winops.spark.row.KeyTypes
import winops.spark.source.SourceOrder

/** Translates a [[Window]] over a stream into an [[OverCall]], or finds the reason why the
  * operator cannot run it.
  */
private[spark] object OverForm {

  /** Translates one node, whose expressions are over `child`.
    *
    * @param definitions
    *   the plans of the WITH clause, by id
    */
  def of(
      window: Window,
      child: LogicalPlan,
      definitions: Map[Long, CTERelationDef]): Either[OverRefusal, OverCall] = {
    def byTime(key: SortOrder)(order: EventWindows.Ordered): Either[OverRefusal, OverCall] =
      for {
        call <- by(
          window.copy(orderSpec = key.copy(child = order.time) +: window.orderSpec.tail),
          order.input,
          definitions)
        _ <- all(call.functions)(ofSameLengths(key, _))
      } yield call
    val ofWindows = window.orderSpec.headOption.flatMap { key =>
      EventWindows
        .orderBelow(key.child, child)
        .map(byTime(key))
        .filter(_.exists(MergedOver.inputOf(_).isDefined))
        .orElse(EventWindows.order(key.child, child).map(byTime(key)))
    }
    ofWindows.getOrElse(by(window, child, definitions))
  }

  /** Refuses a boundary that depends on the time zone, if the time is not the user's column. */
  private def ofSameLengths(
      key: SortOrder,
      function: (FramedFunction, Alias)): Either[OverRefusal, Unit] =
    if (function._1.zonedBounds.isEmpty) Right(())
    else {
      refused(
        key.child,
        "a frame of days or months is not the same for the start, the end and the time of a window",
        "Select window_time of the window as a column, and order by it")
    }

  private def by(
      window: Window,
      child: LogicalPlan,
      definitions: Map[Long, CTERelationDef]): Either[OverRefusal, OverCall] =
    for {
      settings <- OverSettings.read.left.map { invalid =>
        OverRefusal(
          s"${invalid.name} = ${invalid.value}",
          "the setting has a value that it cannot have",
          s"Set it to ${invalid.expected}")
      }
      _ <- changeLog(child)
      _ <- all(InlinedWindow.undetermined(window, child))(random)
      _ <- group(window)
      time <- time(window, child, settings)
      order = if (time.isDefined) window.orderSpec.tail else window.orderSpec
      _ <- all(order)(sortKey)
      functions <- all(window.windowExpressions)(function(_, time.isDefined))
      call = OverCall(
        window.partitionSpec.map(CommonExpressions.inlined),
        time,
        order.map(CommonExpressions.inlined),
        functions.map { case (function, alias) => CommonExpressions.inlined(function) -> alias },
        settings,
        child)
      merged = MergedOver.inputOf(call)
      _ <- watermark(window, time, isMerged = merged.isDefined)
      input = merged.getOrElse(child)
      isUnique = EventWindows.areUnique(
        window.partitionSpec ++ window.orderSpec.map(_.child),
        child)
      _ <-
        if (isUnique) Right(()) else ties(window, order, functions.map(_._1), input, definitions)
      _ <- end(functions.map(_._1), settings, time.isDefined, input)
    } yield call

  private def function(
      named: NamedExpression,
      isOfTime: Boolean): Either[OverRefusal, (FramedFunction, Alias)] = named match {
    case alias @ Alias(call: WindowExpression, _) =>
      OverFunctions.of(call, isOfTime).map(_ -> alias)
    case other => refused(other, "it is no window function", "Write a function with OVER")
  }

  /** Refuses the changes of a table or a window, whose deleted rows would count as rows. */
  private def changeLog(child: LogicalPlan): Either[OverRefusal, Unit] = {
    def has(name: String) = child.output.exists(c => SQLConf.get.resolver(c.name, name))
    if (has("_change_type") && (has("_commit_version") || has("_change_seq"))) {
      Left(
        OverRefusal(
          "the column _change_type",
          "the rows are changes, and window functions would count a deleted row as a row",
          "Write the window as keep with key and op => '_change_type', and its functions as " +
            "withColumns; or rename the column, and each change counts as a row"))
    } else Right(())
  }

  private def random(argument: Expression): Either[OverRefusal, Unit] =
    refused(
      argument,
      "it is not deterministic",
      "Use expressions that always return the same value for the same rows")

  private val ComputeBefore =
    "Compute the value in a column before, with withColumn, and name the column there"

  private def group(window: Window): Either[OverRefusal, Unit] =
    all(window.partitionSpec) { key =>
      if (!key.deterministic || key.containsPattern(TreePattern.CURRENT_LIKE)) {
        refused(key, "PARTITION BY is not deterministic", "Partition by columns")
      } else if (OverFunctions.isOfPython(key)) {
        refused(key, "PARTITION BY calls a function in Python", ComputeBefore)
      } else if (!KeyTypes.accept(key.dataType)) {
        refused(
          key,
          s"PARTITION BY has values of type ${key.dataType.sql}, which cannot be compared",
          s"Partition by ${KeyTypes.ComparableForms}")
      } else Right(())
    }.map(_ => ())

  private def sortKey(key: SortOrder): Either[OverRefusal, Unit] =
    if (!key.child.deterministic || key.containsPattern(TreePattern.CURRENT_LIKE)) {
      refused(key, "ORDER BY is not deterministic", "Order by columns")
    } else if (OverFunctions.isOfPython(key)) {
      refused(key.child, "ORDER BY calls a function in Python", ComputeBefore)
    } else Right(())

  /** The event time that rows are ordered by; None for the order of arrival. */
  private def time(
      window: Window,
      child: LogicalPlan,
      settings: OverSettings): Either[OverRefusal, Option[Attribute]] = {
    val order = window.orderSpec
      .map(key => UnqualifiedSql.of(EventWindows.meaning(key, child)))
      .mkString("ORDER BY ", ", ", "")
    def refused(reason: String, expected: String) = Left(OverRefusal(order, reason, expected))
    window.orderSpec.headOption match {
      case None =>
        Left(
          OverRefusal(
            "OVER without ORDER BY",
            "it has all rows of the partition as its frame, and a stream always has more",
            "Add ORDER BY with the column of withWatermark, or use groupBy"))
      case Some(SortOrder(column: Attribute, direction, _, _))
          if isTime(column, child) || isTimeOfOperator(column.exprId, child) =>
        if (direction == Ascending) {
          // The time of windows in the operator below is not in its output.
          Right(child.output.find(_.exprId == column.exprId).orElse(Some(column)))
        } else {
          refused(
            "a stream has no last row to begin with",
            s"Order by ${column.name} ascending, and use lead instead of lag, FOLLOWING instead of " +
              "PRECEDING. For the latest row of a key, use keep with rows=1, or KEEP 1 ROW in SQL")
        }
      case Some(_) if settings.arrivalOrder => Right(None)
      case Some(SortOrder(ofTime, _, _, _)) if ofTime.references.exists(isTime(_, child)) =>
        val column = ofTime.references.find(isTime(_, child)).get.name
        refused(
          s"${UnqualifiedSql.of(ofTime)} has no watermark, which belongs to the column",
          s"Order by $column itself. A frame of a time is then RANGE INTERVAL 10 MINUTES PRECEDING")
      case Some(key) =>
        refused(
          s"${UnqualifiedSql.of(EventWindows.meaning(key.child, child))} is no timestamp column with a watermark, so that rows that " +
            "belong before others may come later",
          s"${timeInstead(child)}. For the greatest or least rows so far, use keep with esper " +
            "'#sort(10, x desc)'. To number and add up rows as they arrive, whatever their values, set " +
            s"${OverSettings.ArrivalOrder} to true")
    }
  }

  /** The advice for an ORDER BY that does not begin with a time. */
  private def timeInstead(child: LogicalPlan): String = Watermarks.carrierBelow(child) match {
    case Some(carrier) => Watermarks.adviceOf(carrier, "let ORDER BY begin with %s")
    case None if Watermarks.isDefinedIn(child) => Watermarks.adviceIfLost(child)
    case None => "Call withWatermark on a timestamp column and let ORDER BY begin with it"
  }

  /** Refuses a time that has lost its watermark, unless the functions are added to the operator
    * below.
    */
  private def watermark(
      window: Window,
      time: Option[Attribute],
      isMerged: Boolean): Either[OverRefusal, Unit] =
    if (isMerged || time.forall(Watermarks.isOn)) Right(())
    else {
      refused(
        window.orderSpec.head.child,
        "the column has no watermark behind lead or FOLLOWING, which hold rows back until later rows " +
          "have come",
        "Write this function before lead or FOLLOWING, or over their output in a query of its own")
    }

  /** Returns true if a column is the time of the window functions directly below. */
  private def isTimeOfOperator(id: ExprId, plan: LogicalPlan): Boolean = plan match {
    case over: Over => over.time.exists(_.exprId == id)
    case SubqueryAlias(_, child) => isTimeOfOperator(id, child)
    case Project(columns, child) =>
      columns.find(_.exprId == id) match {
        case Some(Alias(column: Attribute, _)) => isTimeOfOperator(column.exprId, child)
        case Some(_: Alias) => false
        case _ => isTimeOfOperator(id, child)
      }
    case _ => false
  }

  private def isTime(column: Attribute, child: LogicalPlan): Boolean =
    child.output.exists { own =>
      own.exprId == column.exprId && Watermarks.isOn(own) &&
      (own.dataType == TimestampType || own.dataType == TimestampNTZType)
    }

  /** Refuses functions for which rows with equal sort keys need an order, if they have none. */
  private def ties(
      window: Window,
      order: Seq[SortOrder],
      functions: Seq[FramedFunction],
      child: LogicalPlan,
      definitions: Map[Long, CTERelationDef]): Either[OverRefusal, Unit] =
    (functions.find(OverFunctions.dependsOnTies), SourceOrder.of(child, definitions)) match {
      case (Some(function), Left(operator)) if order.isEmpty =>
        refused(
          function.child,
          s"rows with the same ${UnqualifiedSql.of(window.orderSpec.head.child)} have no order above " +
            s"the operator ${operator.nodeName}",
          distinguished(function, UnqualifiedSql.of(window.orderSpec.head.child)))
      case _ => Right(())
    }

  /** The way to give an order to rows with equal times. */
  private def distinguished(function: FramedFunction, time: String): String =
    if (!FrameBounds.isOfInterval(function)) "Add a column to ORDER BY that tells them apart"
    else {
      "ORDER BY of a RANGE frame with an interval takes one column. Write a function that needs no " +
        s"order, such as ${withoutOrder(time)}"
    }

  /** Functions that give the values of others without an order of the rows. */
  def withoutOrder(time: String): String =
    s"max(struct($time, id, x)).x for the last x, min(struct($time, id, x)).x for the first, and " +
      "array_sort(collect_set(struct(id, x))) for a list, where id is a unique column"

  /** Refuses to flush rows that wait for the rows behind them, above an operator that may hold
    * such rows back itself.
    */
  private def end(
      functions: Seq[FramedFunction],
      settings: OverSettings,
      isOfTime: Boolean,
      child: LogicalPlan): Either[OverRefusal, Unit] =
    functions.find(_.needsFollowing) match {
      case Some(function) if settings.flushesAtEnd && !isOfTime =>
        refused(
          function.child,
          "in the order of arrival, the end of the input does not flush rows that wait for later ones",
          s"Set ${OverSettings.AtEnd} to wait, or order by a time with a watermark")
      case Some(function) if settings.flushesAtEnd && StreamOperators.areIn(child) =>
        refused(
          function.child,
          "at the end of the input it would not wait for the rows of the operator below it",
          s"Write the rows of that operator to a table first, or set ${OverSettings.AtEnd} to wait")
      case _ => Right(())
    }

  private def all[A, B](list: Seq[A])(
      of: A => Either[OverRefusal, B]): Either[OverRefusal, Seq[B]] =
    list.foldLeft[Either[OverRefusal, Seq[B]]](Right(Nil)) { (done, one) =>
      done.flatMap(before => of(one).map(before :+ _))
    }

  private def refused[A](
      expression: Expression,
      reason: String,
      expected: String): Either[OverRefusal, A] =
    Left(OverRefusal(UnqualifiedSql.of(expression), reason, expected))
}
