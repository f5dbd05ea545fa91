import Base
import Mdoc
import Testing
import Trust

@testable import Sessions

@Suite("A session's life")
struct LifecycleTests {
  @Test("a good response verifies, once (S01)")
  func verified() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body
    #expect(body.status == "verified" && body["last_error"] == .null)
    #expect(body.givenName == Fixture.personal)
    #expect(body["report"]?["id"]?.string?.hasPrefix("vr_") == true)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) }
        == .sessionAlreadyUsed)
  }

  @Test("a node that does not know a session's protocol leaves the session to those that do")
  func unknownProtocol() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let older = try Fixture(store: fixture.store, wallet: FakeWallet(name: "org-iso-mdoc"))
    #expect(
      await code { _ = try await older.service.submit(Fixture.response("good"), to: id, as: older.full) }
        == .sessionProtocolMismatch)
    #expect(
      await code { _ = try await older.service.submit(Fixture.response("good"), to: id, as: older.foreign) }
        == .sessionNotFound)
    let body = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body
    #expect(body.status == "verified")
    #expect(
      await code { _ = try await older.service.submit(Fixture.response("good"), to: id, as: older.full) }
        == .sessionAlreadyUsed)
  }

  @Test("a refused response is a failed session with its reasons and without a value; there is no second try (S03)")
  func failed() async throws {
    let fixture = try Fixture(retains: true)
    let (id, holder) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("forged"), to: id, as: fixture.full).body
    #expect(body.status == "failed" && !body.hasResult)
    #expect(
      body["last_error"] == [
        "code": "envelope.transcript_mismatch",
        "reasons": [
          [
            "code": "envelope.transcript_mismatch", "document": .null,
            "clause": .string(Code.envelopeTranscriptMismatch.entry.clause), "detail": "another nonce",
          ]
        ],
      ])
    for caller in [fixture.full, holder] {
      #expect(
        await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: caller) }
          == .sessionAlreadyUsed)
    }
    let again = try await fixture.service.session(id, query: [QueryItem("expand[]", "result")], as: fixture.full)
    for part in ["requests", "report"] {
      let named = try await fixture.service.session(id, query: [QueryItem("expand[]", part)], as: fixture.full)
      #expect(named.body[part] == again.body[part] && !named.body.hasResult)
    }
    #expect(again.body.status == "failed" && !again.body.hasResult)
    let report = try #require(body["report"]?["id"]?.string)
    #expect(try await fixture.service.report(report, as: fixture.full).body == body["report"])
    #expect(await code { _ = try await fixture.service.report(report, as: fixture.foreign) } == .apiNotFound)
  }

  @Test("a wallet's own refusal consumes the challenge and cancels the session with its reason (D18)")
  func refusedByWallet() async throws {
    let fixture = try Fixture(retains: true)
    let (id, holder) = try await fixture.create()
    let view = try await fixture.service.submit(Fixture.response("no"), to: id, as: holder).body
    #expect(view.status == "canceled" && view["last_error"] == ["code": "wallet.access_denied"])
    // The page that declined may still read how the session ended; no further response is accepted.
    #expect(try await fixture.service.session(id, as: holder).body == view)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) }
        == .sessionCanceled)
    let body = try await fixture.service.session(id, query: [QueryItem("expand[]", "result")], as: fixture.full).body
    #expect(!body.hasResult && body["report"] == .null)
    let lastError: JSON = [
      "code": "wallet.access_denied",
      "reasons": [
        [
          "code": "wallet.access_denied", "document": .null, "clause": .string(Code.walletAccessDenied.entry.clause),
        ]
      ],
    ]
    #expect(body["last_error"] == lastError)
    let redacted = try await fixture.service.redact(id, as: fixture.full).body
    #expect(redacted.status == "redacted" && redacted["last_error"] == lastError)
  }

  @Test("a wallet's refusal that came encrypted cancels the session all the same")
  func refusedInside() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("sealed no"), to: id, as: fixture.full).body
    #expect(body.status == "canceled" && body["last_error"]?["code"] == "wallet.access_denied")
    #expect(try await fixture.service.session(id, as: fixture.full).body == body)
  }

  @Test("what is not this API's JSON consumes nothing")
  func nothingConsumed() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    let bodies: [(JSON, Code)] = [
      ([], .apiInvalidRequest), (["protocol": "apple-in-app"], .apiInvalidRequest),
      (["protocol": "apple-in-app", "data": [:], "x": 1], .apiUnknownMember),
      (["protocol": "apple-in-app", "data": ["encrypted_data": "%%%"]], .apiInvalidRequest),
      (["protocol": "apple-in-app", "data": ["encrypted_data": "", "x": 1]], .apiUnknownMember),
      (["protocol": "org-iso-mdoc", "data": [:]], .sessionProtocolMismatch),
      (["protocol": "carrier-pigeon", "data": [:]], .sessionProtocolMismatch),
    ]
    for (body, expected) in bodies {
      #expect(await code { _ = try await fixture.service.submit(body, to: id, as: holder) } == expected)
    }
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.foreign) }
        == .sessionNotFound)
    let good = try await fixture.service.submit(Fixture.response("good"), to: id, as: holder)
    #expect(good.body.status == "verified")
  }

  @Test("time ends a session (S04)")
  func expired() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    fixture.clock.advance(600)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "expired")
    for caller in [fixture.full, holder] {
      #expect(
        await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: caller) }
          == .sessionExpired)
    }
    #expect(await code { _ = try await fixture.service.cancel(id, as: fixture.full) } == .sessionExpired)
    try await fixture.service.sweep()
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "expired")
  }

  @Test("canceling ends it, and redaction erases it (S08)")
  func canceledAndRedacted() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    #expect(try await fixture.service.cancel(id, as: fixture.full).body.status == "canceled")
    for caller in [fixture.full, holder] {
      #expect(
        await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: caller) }
          == .sessionCanceled)
    }
    #expect(await code { _ = try await fixture.service.cancel(id, as: fixture.full) } == .sessionCanceled)
    let redacted = try await fixture.service.redact(id, as: fixture.full).body
    #expect(redacted.status == "redacted" && redacted["requests"] == [] && redacted["metadata"] == [:])
    #expect(redacted["client_reference_id"] == .null)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) }
        == .sessionRedacted)
    #expect(try await fixture.service.redact(id, as: fixture.full).body.status == "redacted")
  }

  @Test("an attempt that takes longer than 30 seconds is interrupted and gives no result")
  func interrupted() async throws {
    let clock = Locked<FakeClock?>(nil)
    let slow = FakeWallet { clock.withLock { $0?.advance(31) } }
    let fixture = try Fixture(wallet: slow)
    clock.withLock { $0 = fixture.clock }
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body
    #expect(body.status == "failed" && !body.hasResult)
    #expect(body["last_error"]?["code"] == "session.interrupted")
    #expect(try await fixture.service.session(id, as: fixture.full).body["last_error"] == body["last_error"])
  }

  @Test("lists are paged, filtered and strict")
  func list() async throws {
    let fixture = try Fixture()
    for _ in 0..<3 { _ = try await fixture.create() }
    func list(_ query: QueryItem...) async throws -> JSON {
      try await fixture.service.sessions(query: query, as: fixture.full).body
    }
    let first = try await list(QueryItem("limit", "2"))
    #expect(first.object?.map(\.name) == ["object", "data", "has_more"])
    #expect(first["data"]?.array?.count == 2 && first["has_more"] == true)
    let last = try #require(first["data"]?.array?.last?["id"]?.string)
    let rest = try await list(QueryItem("starting_after", last), QueryItem("status", "requires_input"))
    #expect(rest["data"]?.array?.count == 1 && rest["has_more"] == false)
    for query in [
      QueryItem("limit", "0"), QueryItem("limit", "101"), QueryItem("status", "lost"),
      QueryItem("starting_after", "vs_0000000000000000000000"),
    ] {
      #expect(await code { _ = try await list(query) } == .apiInvalidRequest)
    }
    #expect(await code { _ = try await list(QueryItem("page", "1")) } == .apiUnknownMember)
  }

  /// A publisher that replies on demand.
  private final class SlowPublisher: RevocationSource {
    private struct State {
      var waiting: [CheckedContinuation<Void, Never>] = []
      var isOpen = false
    }

    private let state = Locked(State())

    var waiters: Int { state.withLock { $0.waiting.count } }

    func answer() {
      let waiting = state.withLock { state in
        state.isOpen = true
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }

    func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
      return RevocationEvidence()
    }
  }

  @Test("responses that wait for a publisher take no slot, and come to their end")
  func slowPublisher() async throws {
    let publisher = SlowPublisher()
    let fixture = try Fixture(revocation: publisher, concurrentResponses: 1)
    let ids = [try await fixture.create().id, try await fixture.create().id, try await fixture.create().id]
    let statuses = try await withThrowingTaskGroup(of: String?.self) { group in
      for (index, id) in ids.enumerated() {
        group.addTask {
          try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body.status
        }
        // One at a time: a verification has the only slot.
        while publisher.waiters <= index { await Task.yield() }
      }
      publisher.answer()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == ["verified", "verified", "verified"])
  }

  @Test("a list shows requests and reports only where it is asked to, and no result")
  func listParts() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full)
    func names(_ parts: String...) async throws -> Set<String> {
      let query = parts.map { QueryItem("expand[]", $0) }
      let list = try await fixture.service.sessions(query: query, as: fixture.full).body
      return Set(list["data"]?.array?.first?.object?.map(\.name) ?? [])
    }
    let bare = try await names()
    #expect(
      bare.isSuperset(of: ["id", "status", "metadata", "client_reference_id", "last_error", "result_expires_at"]))
    #expect(bare.isDisjoint(with: ["result", "client_secret", "requests", "digital_credential_requests", "report"]))
    #expect(try await names("requests") == bare.union(["requests", "digital_credential_requests"]))
    #expect(try await names("report", "requests").contains("report"))
    #expect(await code { _ = try await names("result") } == .apiInvalidRequest)
    #expect(await code { _ = try await names("report", "report") } == .apiInvalidRequest)
  }

  @Test("a page of large sessions ends at about a mebibyte, and the next goes on from there")
  func listBytes() async throws {
    let fixture = try Fixture()
    let metadata = JSON.object((0..<32).map { JSON.Member("m\($0)", .string(String(repeating: "\u{1}", count: 512))) })
    for _ in 0..<20 {
      _ = try await fixture.service.createSession(
        Fixture.creation.replacing("metadata", with: metadata), as: fixture.full)
    }
    let page = try await fixture.service.sessions(as: fixture.full).body
    let count = try #require(page["data"]?.array?.count)
    #expect(count > 0 && count < 20 && page["has_more"] == true)
    #expect(page.serialized().count <= Limits.pageBytes + 100)
    let last = try #require(page["data"]?.array?.last?["id"]?.string)
    let rest = try await fixture.service.sessions(query: [QueryItem("starting_after", last)], as: fixture.full).body
    #expect(rest["data"]?.array?.first?["id"] != page["data"]?.array?.last?["id"])
    #expect(rest["data"]?.array?.isEmpty == false)
  }

  @Test("a session that would be too large is refused, with nothing kept of it")
  func largeSession() async throws {
    let fixture = try Fixture()
    let name = String(repeating: "\u{1f600}", count: 250)
    let elements = JSON.array(
      (0..<Limits.requestedElements).map { ["namespace": .string(name), "identifier": .string("\(name)\($0)")] })
    let creation: JSON = [
      "protocols": ["openid4vp"], "documents": [["doc_type": "org.iso.18013.5.1.mDL", "elements": elements]],
      "metadata": .object((0..<32).map { JSON.Member("m\($0)", .string(String(repeating: "x", count: 512))) }),
    ]
    #expect(
      await code { _ = try await fixture.service.createSession(creation, as: fixture.full) } == .apiSessionTooLarge)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"] == [])
  }

  @Test("lists of one relying party take turns, and no other waits for them")
  func listTurns() async throws {
    let turns = ListSlots()
    let (holds, release) = AsyncStream.makeStream(of: Void.self)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Limits.lists {
        group.addTask {
          try await turns.take("shop") { () async throws(StoreError) in
            begin.yield()
            for await _ in holds {}
          }
        }
      }
      var reading = begun.makeAsyncIterator()
      for _ in 0..<Limits.lists { await reading.next() }
      // Another relying party's are read at once.
      try await turns.take("other") { () async throws(StoreError) in }
      for _ in 0..<Limits.waitingLists {
        group.addTask { try await turns.take("shop") { () async throws(StoreError) in } }
      }
      while turns.waiting("shop") < Limits.waitingLists { await Task.yield() }
      #expect(await code { try await turns.take("shop") { () async throws(StoreError) in } } == .apiOverloaded)
      release.finish()
      try await group.waitForAll()
    }
    #expect(turns.waiting("shop") == 0)
  }

  @Test("more responses than can be worked on are refused before they are consumed")
  func overload() async throws {
    let fixture = try Fixture(concurrentResponses: 0)
    let (id, _) = try await fixture.create()
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) }
        == .apiOverloaded)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "requires_input")
  }
}
