import Base
import FoundationEssentials
import Glibc
import Sessions
import Testing

@testable import Stores

/// A separate schema for one test, in the tests' database; dropped afterwards.
struct PostgreSQLDatabase: Sendable {
  /// A libpq URL.
  static let variable = "MDOC_POSTGRESQL"
  static let url = getenv(variable).map { String(cString: $0) }
  static let isThere = url != nil

  /// The schema's name, and the one that its connections go by.
  let name: String
  let address: PostgreSQLAddress

  /// Concurrent connections; a server accepts 100 connections by default.
  private static let turns = Turns(8)

  static func withSchema<Value>(
    isMigrated: Bool = true, _ body: (PostgreSQLDatabase) async throws -> Value
  ) async throws -> Value {
    let url = try #require(url)
    await turns.take()
    let name = "mdoc_\(UUID().uuidString.replacing("-", with: "").lowercased())"
    do {
      let main = try PostgreSQLConnection(PostgreSQLAddress(url))
      try main.execute("CREATE SCHEMA \(name)")
      defer { try? main.execute("DROP SCHEMA \(name) CASCADE") }
      let database = PostgreSQLDatabase(name: name, address: try Self.address(name))
      if isMigrated { try PostgreSQLStore.migrate(database.address, mode: .test) }
      let value = try await body(database)
      await turns.give()
      return value
    } catch {
      await turns.give()
      throw error
    }
  }

  func open(connections: Int = 3) throws -> PostgreSQLStore {
    try PostgreSQLStore(address, mode: .test, connections: connections)
  }

  func connect() throws -> PostgreSQLConnection { try PostgreSQLConnection(address) }

  /// - Parameter more: options that replace those of the URL.
  static func address(_ name: String, _ more: String = "") throws -> PostgreSQLAddress {
    let url = try #require(url)
    return try PostgreSQLAddress(
      url + (url.contains("?") ? "&" : "?") + "options=-csearch_path%3D\(name)&application_name=\(name)" + more)
  }

  // MARK: Faults

  /// Ends the schema's connections.
  func cut() async throws {
    let main = try PostgreSQLConnection(PostgreSQLAddress(#require(Self.url)))
    // Again until none is left: some may have been about to connect.
    while try main.run(Self.terminate + " WHERE application_name = $1", .text(name)) > 0 {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Returns once a connection waits for a lock.
  func waitUntilBlocked() async throws { try await whenBlocked("SELECT 1 FROM pg_stat_activity") }

  /// Ends the connection that waits for a lock, once one does.
  func cutBlocked() async throws { try await whenBlocked(Self.terminate) }

  private static let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"

  /// Queries on its own thread: the pool's threads may all be busy for longer than a store waits for a lock, and would
  /// miss the wait.
  private func whenBlocked(_ statement: String) async throws {
    let url = try #require(Self.url)
    let blocked = statement + " WHERE application_name = $1 AND wait_event_type = 'Lock'"
    let ask: @Sendable () throws -> Void = { [name] in
      let main = try PostgreSQLConnection(PostgreSQLAddress(url))
      let end = Deadline(in: .seconds(60))
      while try main.run(blocked, .text(name)) == 0 {
        guard !end.isPast else { throw NobodyWaits() }
        usleep(10_000)
      }
    }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isStarted = BackgroundThread.start { continuation.resume(with: Result { try ask() }) }
      precondition(isStarted, "no thread to ask on")
    }
  }

  private struct NobodyWaits: Error {}

  /// Limits concurrent users to this number.
  private actor Turns {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
      if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func give() {
      if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
  }
}
