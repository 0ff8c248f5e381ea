package winops.window.combination

import winops.window.contents.SharedRows
import winops.window.single.Retainer

/** One of several independent windows over the same rows, with its view of the rows. */
private[window] final class SharingWindow(val rows: SharedRows, val retainer: Retainer)
