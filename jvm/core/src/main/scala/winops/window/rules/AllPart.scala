package winops.window.rules

import winops.window.contents.HeldRows

private[window] final class AllPart(held: HeldRows) extends FrontPart(held)
