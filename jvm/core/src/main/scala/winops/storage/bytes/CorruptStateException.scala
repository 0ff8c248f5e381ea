package winops.storage.bytes

/** Reports stored bytes that are damaged or of another version. */
final class CorruptStateException(message: String) extends RuntimeException(message)
