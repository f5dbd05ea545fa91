import Primitives
import Testing
import VerificationService

@Suite("A session's life")
struct LifecycleTests {
  @Test("a good answer verifies, once (S01)")
  func verified() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full).body
    #expect(body.status == "verified" && body["last_error"] == nil as JSON)
    #expect(body.givenName == Fixture.personal)
    #expect(body["report"]?["id"]?.string?.hasPrefix("vr_") == true)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full) }
        == .sessionAlreadyUsed)
  }

  @Test("a refused answer is a failed session with its reasons and without a value; there is no second try (S03)")
  func failed() async throws {
    let fixture = try Fixture(retains: true)
    let (id, holder) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.answer("forged"), to: id, as: fixture.full).body
    #expect(body.status == "failed" && !body.hasResult)
    #expect(
      body["last_error"] == [
        "code": "envelope.transcript_mismatch",
        "reasons": [
          [
            "code": "envelope.transcript_mismatch", "document": nil,
            "clause": .string(Code.envelopeTranscriptMismatch.entry.clause),
          ]
        ],
      ])
    for caller in [fixture.full, holder] {
      #expect(
        await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: caller) }
          == .sessionAlreadyUsed)
    }
    let again = try await fixture.service.session(id, query: [QueryItem("expand[]", "result")], as: fixture.full)
    #expect(again.body.status == "failed" && !again.body.hasResult)
    let report = try #require(body["report"]?["id"]?.string)
    #expect(try await fixture.service.report(report, as: fixture.full).body == body["report"])
    #expect(await code { _ = try await fixture.service.report(report, as: fixture.foreign) } == .apiNotFound)
  }

  @Test("a wallet's own refusal consumes the challenge and cancels the session with its reason (D18)")
  func refusedByWallet() async throws {
    let fixture = try Fixture(retains: true)
    let (id, holder) = try await fixture.create()
    let view = try await fixture.service.submit(Fixture.answer("no"), to: id, as: holder).body
    #expect(view.status == "canceled" && view["last_error"] == ["code": "wallet.access_denied"])
    // The page that declined may still read how the session ended, and nothing more can be answered.
    #expect(try await fixture.service.session(id, as: holder).body == view)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full) }
        == .sessionCanceled)
    let body = try await fixture.service.session(id, query: [QueryItem("expand[]", "result")], as: fixture.full).body
    #expect(!body.hasResult && body["report"] == nil as JSON)
    let lastError: JSON = [
      "code": "wallet.access_denied",
      "reasons": [
        [
          "code": "wallet.access_denied", "document": nil, "clause": .string(Code.walletAccessDenied.entry.clause),
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
    let body = try await fixture.service.submit(Fixture.answer("sealed no"), to: id, as: fixture.full).body
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
      await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.foreign) }
        == .sessionNotFound)
    let good = try await fixture.service.submit(Fixture.answer("good"), to: id, as: holder)
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
        await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: caller) }
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
        await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: caller) }
          == .sessionCanceled)
    }
    #expect(await code { _ = try await fixture.service.cancel(id, as: fixture.full) } == .sessionCanceled)
    let redacted = try await fixture.service.redact(id, as: fixture.full).body
    #expect(redacted.status == "redacted" && redacted["requests"] == [] && redacted["metadata"] == [:])
    #expect(redacted["client_reference_id"] == nil as JSON)
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full) }
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
    let body = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full).body
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

  @Test("more answers than can be worked on are refused before they are consumed")
  func overload() async throws {
    let fixture = try Fixture(concurrentAnswers: 0)
    let (id, _) = try await fixture.create()
    #expect(
      await code { _ = try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full) }
        == .apiOverloaded)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "requires_input")
  }
}
