package winops.window.rules

import winops.window.contents.HeldRows

/** Holds all rows, and evicts none. */
private[window] final class AllPart(held: HeldRows) extends FrontPart(held)
