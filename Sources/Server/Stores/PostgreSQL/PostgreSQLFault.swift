import CPostgreSQL
import Glibc
import Sessions

extension StoreError {
  /// What a SQLSTATE means to a caller (PostgreSQL 15, Appendix A): something that may be over later, or a fault. The
  /// server's message is left out, since it may quote values.
  init(sqlState: String) {
    let name = "PostgreSQL \(sqlState)"
    switch sqlState.prefix(2) {
    // Connection, transaction rolled back, resources, object in use, operator intervention, system; authentication and
    // missing database, while somebody sets them up; a read-only transaction, after a failover.
    case "08", "28", "3D", "40", "53", "55", "57", "58", "25": self = .unavailable(name)
    default: self = .corrupt(name)
    }
  }

  /// Why there is no connection: libpq's first line, which names host, port, user and database but no password.
  init(connecting handle: OpaquePointer?) {
    let text = handle.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    self = .unavailable(text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no connection")
  }
}

/// States after which a connection does no more good: the server goes or was made read-only by a failover, or a
/// prepared statement is not what it was.
enum PostgreSQLState {
  static func endsConnection(_ sqlState: String) -> Bool {
    sqlState.hasPrefix("08")
      || ["57P01", "57P02", "57P03", "57P05", "25006", "25P03", "26000", "0A000"].contains(sqlState)
  }
}
