/// Why a store could not do what it was asked. Details name the fault, never what is stored.
package enum StoreError: Error, Sendable, Hashable {
  /// The disk is full, the file locked or unreadable, the connection gone: nothing was written, and it may work later.
  case unavailable(String)
  case closed
  /// A record that this version cannot read.
  case corrupt(String)
  /// The store's tables are those of an older version of the program, or none (0), and are not changed by a start.
  case olderSchema(found: Int, known: Int)
  /// The store was written by a newer version of the program.
  case newerSchema(found: Int, known: Int)
  /// A store of test sessions was opened in live mode, or the reverse.
  case otherMode(isLive: Bool)
}
