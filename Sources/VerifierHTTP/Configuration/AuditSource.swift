import Stores
import VerificationService

/// The audit entries of a store, for who reads them without a server: nothing is written, and only the store is opened.
public enum AuditSource {
  /// The store of a configuration.
  public static func open(configurationFile: String) throws(StartError) -> any AuditStore {
    try open(store: try ConfigurationLoader(path: configurationFile).store())
  }

  /// - Parameter path: of the SQLite file.
  public static func open(store path: String) throws(StartError) -> any AuditStore {
    do throws(StoreError) {
      return try SQLiteAuditReader(path: path)
    } catch {
      switch error {
      case .newerSchema(let found, let known):
        throw .configuration("\(path): was written by a newer version (schema \(found), known \(known))")
      case .unavailable(let reason), .corrupt(let reason): throw .unavailable("\(path): \(reason)")
      case .otherMode, .closed: throw .unavailable("\(path): closed")
      }
    }
  }
}
