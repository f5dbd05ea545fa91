import Sessions
import Stores

/// The audit entries of a store, for who reads them without a server: nothing is written.
package enum AuditSource {
  /// The store of a configuration, of which nothing else is opened.
  package static func open(configurationFile: String) throws(StartError) -> any AuditStore {
    try open(try ConfigurationLoader(path: configurationFile).store())
  }

  /// Of whichever mode it is.
  package static func open(_ store: StoreLocation) throws(StartError) -> any AuditStore {
    do throws(StoreError) {
      switch store {
      case .sqlite(let path): return try SQLiteAuditReader(path: path)
      case .postgreSQL(let address): return try open(address)
      }
    } catch {
      throw store.startError(error)
    }
  }

  private static func open(_ address: PostgreSQLAddress) throws(StoreError) -> any AuditStore {
    do throws(StoreError) {
      return try PostgreSQLStore(address, isLive: true, connections: 1)
    } catch {
      guard case .otherMode = error else { throw error }
      return try PostgreSQLStore(address, isLive: false, connections: 1)
    }
  }
}
