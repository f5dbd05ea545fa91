import FoundationEssentials
import Sessions
import Stores
import TestStores
import Testing

/// Makes the stores that the conformance suite runs over: PostgreSQL too, if there is one for tests.
enum StoreFactory: String, CaseIterable, CustomTestStringConvertible {
  case memory, sqlite, postgresql

  static var allCases: [StoreFactory] {
    PostgreSQLDatabase.isThere ? [.memory, .sqlite, .postgresql] : [.memory, .sqlite]
  }

  var testDescription: String { rawValue }

  func run(_ body: (any SessionStore) async throws -> Void) async throws {
    switch self {
    case .memory: try await body(InMemoryStore(mode: .test))
    case .sqlite:
      try await withTemporaryDirectory { directory in
        let store = try SQLiteStore(path: directory + "/sessions.sqlite", mode: .test)
        try await body(store)
        await store.close()
      }
    case .postgresql:
      try await PostgreSQLDatabase.withSchema { database in
        let store = try database.open()
        try await body(store)
        await store.close()
      }
    }
  }
}

func withTemporaryDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
  let directory = FileManager.default.temporaryDirectory.appending(path: "mdoc-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try await body(directory.path)
}
