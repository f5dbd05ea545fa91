import Base
import Testing

@testable import Sessions

/// A relying party learns nothing about another's sessions, even with its own former key.
@Suite("Tenancy")
struct TenancyTests {
  /// A call on a session or report that is not the caller's.
  private typealias Call = (name: String, run: @Sendable (VerificationService, String, Caller) async throws -> Reply)

  private static let calls: [Call] = [
    ("read", { try await $0.session($1, as: $2) }),
    ("read with its result", { try await $0.session($1, query: [QueryItem("expand[]", "result")], as: $2) }),
    (
      "read its evidence",
      {
        _ = try await $0.evidence(of: $1, as: $2)
        return try await $0.session($1, as: $2)
      }
    ),
    ("submit", { try await $0.submit(Fixture.response("good"), to: $1, as: $2) }),
    ("submit in another protocol", { try await $0.submit(["protocol": "smoke", "data": [:]], to: $1, as: $2) }),
    ("cancel", { try await $0.cancel($1, as: $2) }),
    ("redact", { try await $0.redact($1, as: $2) }),
  ]

  /// The time depends on the store's queries: the same queries by the same keys, each of which finds no session.
  @Test("another's session looks unknown: same error, same questions to the store (S05)")
  func foreignIsUnknown() async throws {
    let store = RecordingStore()
    let fixture = try Fixture(store: store)
    let (foreign, _) = try await fixture.create()
    for call in Self.calls {
      var outcomes: [(error: ServiceError?, asked: [String])] = []
      for id in [foreign, "vs_0000000000000000000000"] {
        store.forget()
        let error = await #expect(throws: ServiceError.self, "\(call.name)") {
          _ = try await call.run(fixture.service, id, fixture.foreign)
        }
        outcomes.append((error, store.asked))
      }
      #expect(outcomes[0].error?.code == .sessionNotFound, "\(call.name)")
      #expect(outcomes[0].error == outcomes[1].error, "\(call.name)")
      #expect(outcomes[0].asked == outcomes[1].asked && !outcomes[0].asked.isEmpty, "\(call.name)")
    }
    #expect(try await fixture.service.session(foreign, as: fixture.full).body.status == "requires_input")
  }

  @Test("another's report looks unknown (S05)")
  func foreignReport() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("forged"), to: id, as: fixture.full).body
    let report = try #require(body["report"]?["id"]?.string)
    var errors: [ServiceError?] = []
    for id in [report, "vr_0000000000000000000000"] {
      errors.append(
        await #expect(throws: ServiceError.self) {
          try await fixture.service.report(id, as: fixture.foreign)
        })
    }
    #expect(errors[0]?.code == .apiNotFound && errors[0] == errors[1])
  }

  @Test("a key that was taken out of the configuration is nobody's, though its sessions are still there (S10)")
  func revokedKey() async throws {
    let before = try Fixture()
    let (id, _) = try await before.create()
    _ = try await before.service.authenticate(bearer: "shop-writer")
    let after = try Fixture(store: before.store, keys: ["shop-key"])
    #expect(await code { _ = try await after.service.authenticate(bearer: "shop-writer") } == .apiUnauthenticated)
    let owner = try await after.service.authenticate(bearer: "shop-key")
    #expect(try await after.service.session(id, as: owner).body.status == "requires_input")
  }
}
