import Base
import Cryptography
import Mdoc
import Mock
import Testing

@testable import Sessions

/// Each retained value is erased on its day, neither earlier nor later.
@Suite struct RetentionTests {
  private static let day: Int64 = 86_400

  /// Values retained for 3 days, for 40 days and for the policy's period; one is not retained.
  private static func creation(_ count: Int = 4) -> JSON {
    func element(_ name: String, _ members: JSON) -> JSON {
      .object(
        [.init("namespace", .string(Namespace.mDL)), .init("identifier", .string(name))] + (members.object ?? []))
    }
    return [
      "protocols": ["apple-in-app"],
      "documents": [
        [
          "doc_type": .string(DocType.mDL),
          "elements": .array(
            [
              element("given_name", ["intent_to_retain": true, "retain_days": 3]),
              element("family_name", ["intent_to_retain": true, "retain_days": 40]),
              element("document_number", ["intent_to_retain": true]), element("issuing_country", [:]),
            ].prefix(count).map { $0 }),
        ]
      ],
    ]
  }

  private func names(_ fixture: AppleServiceFixture, _ id: String) async throws -> [String]? {
    let read = try await fixture.service.session(id, query: [QueryItem("expand[]", "result")], as: fixture.caller).body
    guard let documents = read["result"]?["documents"]?.array else { return nil }
    #expect(documents.count == 1 && documents.first?["doc_type"]?.string == DocType.mDL)
    return documents.first?["elements"]?[Namespace.mDL]?.object?.map(\.name).sorted() ?? []
  }

  private func verified(_ fixture: AppleServiceFixture) async throws -> JSON {
    let session = try await fixture.create(Self.creation())
    let elements = ["given_name", "family_name", "document_number", "issuing_country"]
    let body = try await fixture.submit(session, elements, ageOver: [])
    #expect(body.status == "verified", "\(body)")
    return body
  }

  @Test(arguments: [true, false])
  func `each value goes on its day, swept or not, and the record after the last`(sweeps: Bool) async throws {
    let fixture = try AppleServiceFixture(
      policies: .init(retainsResults: true, retention: RetentionPolicy(days: 7), revocation: .off))
    let id = try #require(try await verified(fixture)["id"]?.string)
    let all = ["document_number", "family_name", "given_name"]
    let expected: [(Int64, [String]?)] = [
      (0, all), (3 * Self.day - 1, all), (3 * Self.day, ["document_number", "family_name"]),
      (7 * Self.day - 1, ["document_number", "family_name"]), (7 * Self.day, ["family_name"]),
      (31 * Self.day, ["family_name"]), (40 * Self.day - 1, ["family_name"]),
    ]
    var passed: Int64 = 0
    for (time, names) in expected {
      fixture.clock.advance(time - passed)
      passed = time
      if sweeps { try await fixture.service.sweep() }
      #expect(try await self.names(fixture, id) == names, "after \(time) s")
    }
    fixture.clock.advance(1)
    if !sweeps {
      #expect(try await names(fixture, id) == nil)
    }
    let count = try await fixture.service.sweep()
    #expect(count.valuesErased == 1 && count.sessionsDeleted == 1)
    #expect(await code { _ = try await names(fixture, id) } == .sessionNotFound)
  }

  @Test func `where nothing is said of days a value stays as long as its session's record`() async throws {
    let fixture = try AppleServiceFixture(policies: .init(retainsResults: true, revocation: .off))
    let id = try #require(try await verified(fixture)["id"]?.string)
    fixture.clock.advance(Limits.sessionRetention - 1)
    try await fixture.service.sweep()
    #expect(try await names(fixture, id) == ["document_number", "family_name"])
    fixture.clock.advance(1)
    try await fixture.service.sweep()
    #expect(try await names(fixture, id) == ["family_name"])
  }

  @Test func `without retained results nothing is kept, for any request`() async throws {
    let fixture = try AppleServiceFixture()
    let id = try #require(try await verified(fixture)["id"]?.string)
    #expect(try await names(fixture, id) == nil)
  }

  @Test func `evidence is erased with the value of the shortest retention`() async throws {
    let key = try EvidenceKey(SecretBytes(copying: (0..<32).map { UInt8($0) }))
    let fixture = try AppleServiceFixture(policies: .init(revocation: .off, evidenceKey: key))
    let session = try await fixture.create(Self.creation(2))
    let body = try await fixture.submit(session, ["given_name", "family_name"], ageOver: [])
    #expect(body["evidence"] == "kept", "\(body)")
    let id = try #require(body["id"]?.string)
    fixture.clock.advance(3 * Self.day - 1)
    try await fixture.service.sweep()
    #expect(try await !fixture.service.evidence(of: id, as: fixture.caller).bytes.isEmpty)
    fixture.clock.advance(1)
    for isSwept in [false, true] {
      if isSwept { try await fixture.service.sweep() }
      #expect(try await fixture.service.session(id, as: fixture.caller).body["evidence"] == "erased")
      #expect(await code { _ = try await fixture.service.evidence(of: id, as: fixture.caller) } == .apiNotFound)
    }
  }
}
