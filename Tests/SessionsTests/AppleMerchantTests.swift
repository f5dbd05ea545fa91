import Base
import Testing

@testable import Sessions

/// A relying party with several Apple merchants: each session belongs to one merchant.
@Suite struct AppleMerchantTests {
  private let fixture: AppleServiceFixture

  init() throws { fixture = try AppleServiceFixture(merchants: ["merchant.one", "merchant.two"]) }

  private func create(_ merchant: JSON?) async throws -> JSON {
    let members = (Fixture.creation.object ?? []) + (merchant.map { [JSON.Member("apple_merchant_id", $0)] } ?? [])
    return try await fixture.create(.object(members))
  }

  private func submit(_ session: JSON, to merchant: String, recipient: String) async throws -> JSON {
    try await fixture.submit(session, ["given_name", "birth_date"], to: merchant, recipient: recipient)
  }

  @Test func `a creation names the merchant that asks`() async throws {
    for name in fixture.keys.keys {
      let session = try await create(.string(name))
      #expect(session["requests"]?.array?.first?["data"]?["merchant_identifier"] == .string(name))
      #expect(try await submit(session, to: name, recipient: name).status == "verified")
    }
  }

  @Test(arguments: [nil, "merchant.three", ""] as [JSON?])
  func `none and an unknown one are refused`(name: JSON?) async throws {
    let error = await #expect(throws: ServiceError.self) { try await create(name) }
    #expect(error?.code == .apiInvalidRequest && error?.pointers.first?.pointer == "/apple_merchant_id")
  }

  @Test func `a response to another merchant or its key is refused, and the report says so`() async throws {
    func detail(_ body: JSON) -> String? {
      #expect(body.status == "failed" && !body.hasResult)
      return body["report"]?["checks"]?.array?.first { $0["outcome"] == "failed" }?["detail"]?.string
    }
    let foreign = try await submit(create("merchant.one"), to: "merchant.two", recipient: "merchant.one")
    #expect(detail(foreign)?.contains("this relying party's other merchant merchant.two") == true)
    let otherKey = try await submit(create("merchant.one"), to: "merchant.one", recipient: "merchant.two")
    #expect(otherKey["last_error"]?["code"] == "envelope.recipient_key_unknown")
    #expect(detail(otherKey)?.contains("the key of another merchant of this relying party") == true)
  }
}
