import Base
import HTTP
import Sessions
import TestSupport
import Testing

@testable import App

/// The registry of requests that wait for a session's end: its limits, and the events that end a wait.
@Suite(.onOwnThreads) struct SessionWaitsTests {
  private let waits = SessionWaits(connections: 128)

  private func enter(
    _ session: SessionID? = nil, of party: String = "shop", from address: ClientAddress? = nil,
    atMost time: Duration = .seconds(600),
    unended: @escaping @Sendable ([SessionID]) async -> Set<SessionID>? = { Set($0) }
  ) throws -> SessionWait? {
    waits.enter(try session ?? SessionID.random(), of: party, from: address, atMost: time, unended: unended)
  }

  @Test func `all waits together take a quarter of the connections`() throws {
    let held = try (0..<40).compactMap { try enter(of: "party-\($0)") }
    #expect(held.count == 32 && waits.count() == 32)
    for wait in held { waits.leave(wait) }
    #expect(waits.count() == 0)
    #expect(try enter() != nil)
  }

  @Test func `a relying party takes half of them, and leaves the others theirs`() throws {
    #expect(try (0..<40).compactMap { _ in try enter(of: "shop") }.count == 16)
    #expect(try enter(of: "bank") != nil)
  }

  @Test func `an address takes an eighth of them`() throws {
    let address = try #require(ClientAddress("192.0.2.1"))
    #expect(try (0..<40).compactMap { try enter(of: "party-\($0)", from: address) }.count == 4)
    #expect(try enter(from: ClientAddress("192.0.2.2")) != nil)
  }

  @Test func `a session takes four`() throws {
    let session = try SessionID.random()
    let held = try (0..<10).compactMap { _ in try enter(session) }
    #expect(held.count == 4)
    waits.leave(held[0])
    #expect(try enter(session) != nil && enter(session) == nil)
  }

  @Test func `a server of few connections still lets somebody wait`() throws {
    let small = SessionWaits(connections: 1)
    let address = ClientAddress("192.0.2.1")
    #expect(
      small.enter(try .random(), of: "shop", from: address, atMost: .seconds(600), unended: { Set($0) }) != nil)
  }

  @Test func `an end wakes all waits of its session and no other`() async throws {
    let session = try SessionID.random()
    let own = try (0..<3).compactMap { _ in try enter(session) }
    let other = try #require(try enter(atMost: .milliseconds(200)))
    let start = ContinuousClock.now
    waits.wake(session)
    // The waits of ten minutes have ended, the short one ends by its own time.
    for wait in own { await wait.hold() }
    await other.hold()
    #expect(ContinuousClock.now - start >= .milliseconds(150))
  }

  @Test func `a cancelled task ends its wait`() async throws {
    let wait = try #require(try enter())
    let task = Task { await wait.hold() }
    task.cancel()
    await task.value
  }

  @Test func `a stop ends all waits and admits no more`() async throws {
    let held = try (0..<8).compactMap { _ in try enter() }
    waits.close()
    for wait in held { await wait.hold() }
    #expect(try enter() == nil)
  }

  @Test func `one query for all waits finds what ended elsewhere, and stops with the last wait`() async throws {
    let sessions = try (0..<8).map { _ in try SessionID.random() }
    let ended = try SessionID.random()
    let queries = Locked<[Set<SessionID>]>([])
    let open = try sessions.flatMap { session in
      try (0..<2).compactMap { _ in
        try enter(session, of: session.text) { asked in
          let count = queries.withLock { queries in
            queries.append(Set(asked))
            return queries.count
          }
          // A store that does not respond ends no wait.
          return count == 1 ? nil : Set(asked).subtracting([ended])
        }
      }
    }
    let wait = try #require(try enter(ended))
    await wait.hold()
    // The first did not respond. On a busy machine there may be one more before the wait goes on.
    let asked = queries.withLock { $0 }
    #expect(asked.count >= 2 && asked.allSatisfy { $0 == Set(sessions + [ended]) })
    for wait in open + [wait] { waits.leave(wait) }
    // The last query may be under way.
    try await Task.sleep(for: .seconds(1))
    let count = queries.withLock { $0.count }
    try await Task.sleep(for: .seconds(1))
    #expect(queries.withLock { $0.count } == count)
  }
}
