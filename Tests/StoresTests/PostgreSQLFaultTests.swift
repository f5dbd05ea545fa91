import Base
import Sessions
import Testing

@testable import Stores

@Suite("PostgreSQL that goes away", .enabled(if: PostgreSQLDatabase.isThere, "MDOC_POSTGRESQL is not set"))
struct PostgreSQLFaultTests {
  @Test("connections that were cut while nobody used them are not noticed")
  func cutIdle() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open()
      let session = try await store.add(makeSession())
      for _ in 0..<3 {
        try await database.cut()
        #expect(try await store.session(session.address) == session)
      }
      #expect(try await store.refusal(session.address) == nil)
      await store.close()
    }
  }

  @Test("one that is cut while it works is unavailable, consumes nothing, and comes back by itself")
  func cutBusy() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open(connections: 1)
      let session = try await store.add(makeSession())
      let holder = try database.connect()
      try holder.execute("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
      let refusal = Task { try await store.refusal(session.address) }
      try await database.cutBlocked()
      await #expect {
        _ = try await refusal.value
      } throws: { error in
        error.isUnavailable
      }
      try holder.execute("COMMIT")
      #expect(try await store.session(session.address)?.state == .requiresInput)
      #expect(try await store.refusal(session.address) == nil)
      await store.close()
    }
  }

  @Test("a row that somebody keeps locked is unavailable within seconds, and the connection stays good")
  func locked() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open(connections: 1)
      let session = try await store.add(makeSession())
      let holder = try database.connect()
      try holder.execute("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
      await #expect {
        try await store.refusal(session.address)
      } throws: { error in
        error.isUnavailable
      }
      try holder.execute("COMMIT")
      #expect(try await store.refusal(session.address) == nil)
      await store.close()
    }
  }

  @Test("while no connection can be had all is refused at once, and later it goes on by itself")
  func gone() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      // A role that may no longer log in has the same effect as an unreachable server.
      let administrator = try database.connect()
      try administrator.execute(
        """
        CREATE ROLE \(database.name) LOGIN PASSWORD 'x';
        GRANT USAGE ON SCHEMA \(database.name) TO \(database.name);
        GRANT ALL ON ALL TABLES IN SCHEMA \(database.name) TO \(database.name);
        """)
      defer { try? administrator.execute("DROP OWNED BY \(database.name); DROP ROLE \(database.name)") }
      let address = try PostgreSQLDatabase.address(
        database.name, "_role&user=\(database.name)&password=x")
      let store = try PostgreSQLStore(address, mode: .test, connections: 2)
      let session = try await store.add(makeSession())
      try administrator.execute("ALTER ROLE \(database.name) NOLOGIN")
      // Until every thread has noticed it and failed to reconnect.
      var refusals = 0
      while refusals < 3 {
        let cut = try administrator.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
          .text(database.name + "_role"))
        let isRefused = (try? await store.session(session.address)) == nil
        refusals = isRefused && cut == 0 ? refusals + 1 : 0
      }
      for _ in 0..<20 {
        await #expect {
          try await store.refusal(session.address)
        } throws: { error in
          error.isUnavailable
        }
        await #expect {
          try await store.probe()
        } throws: { error in
          error.isUnavailable
        }
      }
      try administrator.execute("ALTER ROLE \(database.name) LOGIN")
      while true {
        do {
          #expect(try await store.session(session.address) == session)
          break
        } catch StoreError.unavailable { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(try await store.refusal(session.address) == nil)
      try await store.probe()
      await store.close()
    }
  }

  @Test("an error's text has a code and no value")
  func text() async throws {
    try await PostgreSQLDatabase.withSchema { database in
      let store = try database.open()
      let session = try await store.add(makeSession())
      await #expect(throws: StoreError.corrupt("PostgreSQL 23505")) { try await store.create(session, finishing: nil) }
      await store.close()
    }
  }
}

extension Error {
  var isUnavailable: Bool { if case .unavailable? = self as? StoreError { true } else { false } }
}
