package winops.storage.bytes

/** Stored bytes do not have the form they should have: another version's, or damaged. */
final class CorruptStateException(message: String) extends RuntimeException(message)
