package winops.text.esper

import winops.policy._
import winops.text.dialect.Problem
import winops.window.piece._

/** Checks the order of the windows in a chain, and combines them into a policy. */
private[esper] object Chain {

  /** The policy of a statement. A window at a wrong place is `policy`. A window over computed
    * values is `unsupported`.
    */
  def policy(statement: Statement, scope: Scope): Either[Problem, Policy] =
    refusals(statement, scope).headOption.toLeft(accepted(retaining(statement), scope))

  private def refusals(statement: Statement, scope: Scope): Seq[Problem] =
    misplaced(statement.views, scope) ++ ofValues(statement) ++
      (if (statement.isUnion) Nil else batches(statement.views))

  private def misplaced(views: Seq[View], scope: Scope): Seq[Problem] = {
    val groups = views.filter(_.isGroup)
    val merges = views.filter(_.isMerge)
    val grouped = groups.map(_.role).collect { case Role.Groups(keys) => Role.Merges(keys) }
    val merged = views.dropWhile(!_.isMerge)
    Seq(
      groups.drop(1) -> "at most one groupwin",
      views.drop(1).filter(_.isGroup) -> "groupwin before all other windows",
      groups.filter(_ => views.lengthIs == 1) -> "a window after groupwin",
      merges.drop(1) -> "at most one merge",
      merges.filter(_ => groups.isEmpty && !scope.isGrouped) -> "groupwin before merge",
      views.filterNot(_.isGroup).take(1).filter(_.isMerge) ->
        "a window between groupwin and merge",
      merges.filterNot(merge => groups.isEmpty || grouped.contains(merge.role)) ->
        "the keys of groupwin in merge",
      merged.filter(_.isRetaining) -> "no window that retains rows after merge").flatMap {
      case (wrong, what) =>
        wrong.map(view => Problem(Category.Policy, view.offset, s"expected $what"))
    }
  }

  /** Computed values form rows of another kind. Only a second policy can retain them or compute
    * values from them.
    */
  private def ofValues(statement: Statement): Seq[Problem] = {
    val rest = statement.views.dropWhile(!_.isComputing)
    val instead = "put a second keep over the result of the first's agg()"
    val behind = rest.drop(1).filterNot(_.isMerge).map { view =>
      val what = s"no window behind ${rest.head.name}, which computes values"
      Problem(Category.Unsupported, view.offset, s"expected $what; $instead")
    }
    val selected = statement.list.filter(_ => rest.nonEmpty).map { list =>
      val what = s"* alone, because ${rest.head.name} computes values already"
      Problem(Category.Unsupported, list.offset, s"expected $what; $instead")
    }
    behind ++ selected
  }

  /** Esper: an intersection has at most one batch, because each batch would have to wait for the
    * other.
    */
  private def batches(views: Seq[View]): Seq[Problem] = {
    val batches = views.filter(isBatch)
    batches.drop(1).map { view =>
      val what = "expected at most one batch in an intersection"
      Problem(Category.Policy, view.offset, s"$what; ${batches.head.name} is one already")
    }
  }

  /** Esper: without a window that retains rows, values are computed over all rows. */
  private def retaining(statement: Statement): Statement =
    if (statement.views.exists(_.isRetaining)) statement
    else {
      val (groups, others) = statement.views.span(_.isGroup)
      val everything = View("keepall", Nil, Role.Retains(everyRow), others.head.offset)
      statement.copy(views = groups ++ (everything +: others))
    }

  private val everyRow =
    Window(EveryRow, Arrival, Unbounded, Triggers(EachRow, Never, Never))

  private def accepted(statement: Statement, scope: Scope): Policy = {
    val keys = statement.views.map(_.role).collectFirst { case Role.Groups(keys) => keys }
    val isGrouped = keys.isDefined || scope.isGrouped
    val group = Group(keys.getOrElse(Nil), statement.reclaim.filter(_ => isGrouped))
    val windows = statement.views.map(_.role).collect { case Role.Retains(window, _) => window }
    val printed = EsperPrinter(statement.copy(reclaim = group.reclaim), scope.origin)
    Policy(
      group,
      windows match {
        case Seq(window) => Retention.One(window)
        case _ if statement.isUnion => Retention.Union(windows)
        case _ => Retention.Intersection(windows)
      },
      statement.stream,
      printed.text,
      printed.window,
      statement.filter.map(_.value),
      projection(statement, isGrouped))
  }

  /** Esper: a select list is computed over all groups together. A derived-value window is
    * computed for each group, or over all groups behind merge.
    */
  private def projection(statement: Statement, isGrouped: Boolean): Option[Projection] = {
    val isMerged = statement.views.dropWhile(!_.isMerge).exists(_.isComputing)
    val derived =
      statement.views.map(_.role).collectFirst { case Role.Computes(statistic, of, beside) =>
        Projection.Derived(statistic, of, beside, isMerged)
      }
    derived.orElse(statement.list.map { list =>
      Projection.Columns(list.columns.value, list.by.value, isGrouped)
    })
  }

  private def isBatch(view: View): Boolean = view.role match {
    case Role.Retains(window, _) => window.bound == PreviousBatch
    case _ => false
  }
}
