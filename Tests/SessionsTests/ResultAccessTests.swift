import Base
import Testing

@testable import Sessions

@Suite("Who gets the result")
struct ResultAccessTests {
  private let expand = [QueryItem("expand[]", "result")]

  @Test("after an API key's submit it is not stored")
  func inline() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body
    #expect(body.hasResult && body["result_expires_at"] == .null)
    #expect(try await fixture.service.session(id, query: expand, as: fixture.full).body.hasResult == false)
  }

  @Test("a key without results:read gets none")
  func writer() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    let body = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.writer).body
    #expect(body.status == "verified" && !body.hasResult)
    #expect(
      await code { _ = try await fixture.service.session(id, query: expand, as: fixture.writer) } == .apiForbidden)
  }

  @Test("after a client secret's submit it waits, repeatably, until it expires")
  func waiting() async throws {
    let fixture = try Fixture()
    let (id, holder) = try await fixture.create()
    let reply = try await fixture.service.submit(Fixture.response("good"), to: id, as: holder).body
    #expect(reply.object?.map(\.name) == ["id", "status", "expires_at", "requests", "last_error"])
    #expect(reply.status == "verified")
    #expect(await code { _ = try await fixture.service.session(id, query: expand, as: holder) } == .apiForbidden)
    #expect(try await fixture.service.session(id, as: fixture.full).body.hasResult == false)
    for _ in 0..<2 {
      let body = try await fixture.service.session(id, query: expand, as: fixture.full).body
      #expect(body.givenName == Fixture.personal && body["result_expires_at"] == 1_795_000_600)
      // Members keep their order through the store.
      #expect(body["result"]?["documents"]?.array?.first?.object?.first?.name == "doc_type")
    }
    fixture.clock.advance(599)
    #expect(try await fixture.service.session(id, query: expand, as: fixture.full).body.hasResult)
    fixture.clock.advance(1)
    #expect(try await fixture.service.session(id, query: expand, as: fixture.full).body.hasResult == false)
  }

  @Test("redaction takes a waiting result away")
  func redacted() async throws {
    let fixture = try Fixture(retains: true)
    let (id, holder) = try await fixture.create()
    _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: holder)
    _ = try await fixture.service.redact(id, as: fixture.full)
    let body = try await fixture.service.session(id, query: expand, as: fixture.full).body
    #expect(body.status == "redacted" && !body.hasResult)
    #expect(body["report"]?["checks"]?.array?.isEmpty == false)
  }

  @Test("a retaining relying party keeps what was requested with intent_to_retain, and no more")
  func retained() async throws {
    let fixture = try Fixture(retains: true)
    let (id, _) = try await fixture.create()
    let inline = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full).body
    #expect(inline.givenName == Fixture.personal)
    fixture.clock.advance(100_000)
    let kept = try await fixture.service.session(id, query: expand, as: fixture.full).body
    let document = try #require(kept["result"]?["documents"]?.array?.first)
    #expect(document["elements"] == ["org.iso.18013.5.1": ["birth_date": "1990-04-12"]])
    // The proving element was not requested with intent to retain.
    #expect(document["age_over"] == [])
  }

  @Test("a client secret is good for its own session only, and dies with it")
  func clientSecret() async throws {
    let fixture = try Fixture()
    let created = try await fixture.service.createSession(Fixture.creation, as: fixture.full).body
    let id = try #require(created["id"]?.string)
    let secret = try #require(created["client_secret"]?.string)
    let holder = try await fixture.service.authenticate(bearer: secret)
    let (other, _) = try await fixture.create()
    #expect(try await fixture.service.session(id, as: holder).body["id"]?.string == id)
    #expect(await code { _ = try await fixture.service.session(other, as: holder) } == .sessionNotFound)
    #expect(await code { _ = try await fixture.service.cancel(id, as: holder) } == .apiForbidden)
    _ = try await fixture.service.cancel(id, as: fixture.full)
    #expect(await code { _ = try await fixture.service.authenticate(bearer: secret) } == .apiUnauthenticated)
    #expect(await code { _ = try await fixture.service.authenticate(bearer: "nonsense") } == .apiUnauthenticated)
    guard case .apiKey(let party, let scopes, _) = try await fixture.service.authenticate(bearer: "shop-writer") else {
      Issue.record("no API key")
      return
    }
    #expect(party.id == "shop" && scopes == [.sessionsWrite])
  }
}
