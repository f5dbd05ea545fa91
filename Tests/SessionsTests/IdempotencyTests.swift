import Base
import Testing

@testable import Sessions

@Suite("Idempotency")
struct IdempotencyTests {
  private func key(
    _ body: JSON, named name: String = "k", path: String = "/v1/verification_sessions"
  ) -> IdempotencyRequest {
    IdempotencyRequest(key: name, method: "POST", path: path, body: body.serialized())
  }

  @Test("the same creation again is the same session")
  func creation() async throws {
    let fixture = try Fixture()
    let first = try await fixture.service.createSession(
      Fixture.creation, as: fixture.full, idempotency: key(Fixture.creation))
    let second = try await fixture.service.createSession(
      Fixture.creation, as: fixture.full, idempotency: key(Fixture.creation))
    #expect(second.body == first.body && second.status == 201)
    #expect(second.isReplay && !first.isReplay)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"]?.array?.count == 1)
    #expect(
      await code {
        _ = try await fixture.service.createSession(["x": 1], as: fixture.full, idempotency: key(["x": 1]))
      } == .apiIdempotencyKeyReused)
    fixture.clock.advance(86_400)
    let third = try await fixture.service.createSession(
      Fixture.creation, as: fixture.full, idempotency: key(Fixture.creation))
    #expect(third.body["id"] != first.body["id"])
  }

  @Test("of many at once one runs (S12)")
  func concurrent() async throws {
    let fixture = try Fixture()
    let ids = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<30 {
        group.addTask {
          let reply = try? await fixture.service.createSession(
            Fixture.creation, as: fixture.full, idempotency: key(Fixture.creation))
          return reply?.body["id"]?.string
        }
      }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(ids.compactMap { $0 }.count == 1)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"]?.array?.count == 1)
  }

  @Test("a submit's reply is given again with its result until that expires, and only to who may read it")
  func submit() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.create()
    func submit(_ caller: Caller) async throws -> JSON {
      let body = Fixture.response("good")
      return try await fixture.service.submit(
        body, to: id, as: caller, idempotency: key(body, path: "/v1/verification_sessions/\(id)/submit")
      ).body
    }
    let first = try await submit(fixture.full)
    #expect(first.givenName == Fixture.personal)
    #expect(try await submit(fixture.full) == first)
    #expect(try await submit(fixture.writer).hasResult == false)
    fixture.clock.advance(600)
    let late = try await submit(fixture.full)
    #expect(late.status == "verified" && !late.hasResult)
    _ = try await fixture.service.redact(id, as: fixture.full)
    #expect(await code { _ = try await submit(fixture.full) } == .sessionRedacted)
  }

  @Test("a refusal is kept, a failure of the server is not")
  func refusals() async throws {
    let fixture = try Fixture()
    let bad: JSON = ["protocols": ["carrier-pigeon"], "documents": [["doc_type": "d", "age_over": [18]]]]
    for _ in 0..<2 {
      let error = await #expect(throws: ServiceError.self) {
        try await fixture.service.createSession(bad, as: fixture.full, idempotency: key(bad))
      }
      #expect(error?.code == .apiProtocolUnsupported && error?.pointers.isEmpty == false)
    }
    let busy = try Fixture(concurrentResponses: 0)
    let (id, _) = try await busy.create()
    let answer = Fixture.response("good")
    for _ in 0..<2 {
      #expect(
        await code {
          _ = try await busy.service.submit(answer, to: id, as: busy.full, idempotency: key(answer))
        } == .apiOverloaded)
    }
    let long = String(repeating: "k", count: 256)
    #expect(
      await code {
        _ = try await fixture.service.createSession(
          Fixture.creation, as: fixture.full, idempotency: key(Fixture.creation, named: long))
      } == .apiInvalidRequest)
  }
}
