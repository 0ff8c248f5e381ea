package winops.esper

import winops.dialect.Problem
import winops.policy._

/** Which windows may follow which, and the policy that they are together. */
private[esper] object Chain {

  /** The policy; `policy` where a window stands where it may not, and `unsupported` for windows
    * that retain no rows.
    */
  def policy(statement: Statement, scope: Scope): Either[Problem, Policy] =
    refusals(statement).headOption.toLeft(accepted(statement, scope))

  private def refusals(statement: Statement): Seq[Problem] =
    misplaced(statement.views) ++ computing(statement.views) ++
      (if (statement.isUnion) Nil else batches(statement.views))

  private def misplaced(views: Seq[View]): Seq[Problem] = {
    val groups = views.filter(isGroup)
    val merges = views.filter(isMerge)
    val grouped = groups.map(_.role).collect { case Role.Groups(keys) => Role.Merges(keys) }
    val merged = views.dropWhile(!isMerge(_))
    Seq(
      groups.drop(1) -> "at most one groupwin",
      views.drop(1).filter(isGroup) -> "groupwin before all other windows",
      groups.filter(_ => views.lengthIs == 1) -> "a window after groupwin",
      merges.drop(1) -> "at most one merge",
      merges.filter(_ => groups.isEmpty) -> "groupwin before merge",
      views.slice(1, 2).filter(isMerge) -> "a window between groupwin and merge",
      merges.filterNot(merge => grouped.contains(merge.role)) -> "the keys of groupwin in merge",
      merged.filter(isRetaining) -> "no window that retains rows after merge").flatMap {
      case (wrong, what) =>
        wrong.map(view => Problem(Category.Policy, view.offset, s"expected $what"))
    }
  }

  private def computing(views: Seq[View]): Seq[Problem] =
    views.filter(_.role == Role.Computes).map { view =>
      val what = "expected a window that retains rows"
      val why = s"${view.name} computes values instead of retaining rows"
      Problem(Category.Unsupported, view.offset, s"$what; $why")
    }

  /** Esper: of an intersection, a batch would have to wait for the other. */
  private def batches(views: Seq[View]): Seq[Problem] = {
    val batches = views.filter(isBatch)
    batches.drop(1).map { view =>
      val what = "expected at most one batch in an intersection"
      Problem(Category.Policy, view.offset, s"$what; ${batches.head.name} is one already")
    }
  }

  private def accepted(statement: Statement, scope: Scope): Policy = {
    val keys = statement.views.map(_.role).collectFirst { case Role.Groups(keys) => keys }
    val group =
      Group(keys.getOrElse(Nil), statement.reclaim.filter(_ => keys.isDefined || scope.isGrouped))
    val windows = statement.views.map(_.role).collect { case Role.Retains(window, _) => window }
    val told = Canonical(statement.copy(reclaim = group.reclaim), scope.origin)
    Policy(
      group,
      windows match {
        case Seq(window) => Retention.One(window)
        case _ if statement.isUnion => Retention.Union(windows)
        case _ => Retention.Intersection(windows)
      },
      statement.stream,
      told.text,
      told.window,
      statement.filter.map(_.value))
  }

  private def isGroup(view: View): Boolean = view.role.isInstanceOf[Role.Groups]

  private def isMerge(view: View): Boolean = view.role.isInstanceOf[Role.Merges]

  private def isRetaining(view: View): Boolean = view.role.isInstanceOf[Role.Retains]

  private def isBatch(view: View): Boolean = view.role match {
    case Role.Retains(window, _) => window.bound == Bound.PreviousLot
    case _ => false
  }
}
