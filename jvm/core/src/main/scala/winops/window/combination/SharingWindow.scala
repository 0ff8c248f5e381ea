package winops.window.combination

import winops.window.contents.SharedRows
import winops.window.single.Retainer

/** One of several windows over the same rows, and what it sees of them. */
private[window] final class SharingWindow(val rows: SharedRows, val retainer: Retainer)
