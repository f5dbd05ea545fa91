import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import Presentation
import Testing

@testable import Sessions

@Suite("OpenID4VP over the Digital Credentials API")
struct OpenID4VPWebProtocolTests {
  static let names = OpenID4VPWebProtocol.Signing.allCases.map { OpenID4VPWebProtocol($0).name }

  @Test("any of the three protocols of a session takes a response", arguments: names)
  func verifies(name: String) async throws {
    let fixture = try OpenID4VPServiceFixture()
    let session = try await fixture.create("openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned")
    let data = try #require(session.requestData(name))
    let answer = try fixture.wallet.answer(
      digitalCredential: name, data: data, origin: "https://shop.example", at: fixture.clock.now)
    let after = try await fixture.submit(answer.data, by: name, to: session)
    #expect(after.status == "verified" && after.givenName != nil)
  }

  @Test("a response to one request is none to another of the same session", arguments: names)
  func isBoundToItsRequest(name: String) async throws {
    for other in Self.names where other != name {
      let fixture = try OpenID4VPServiceFixture()
      let session = try await fixture.create(name, other)
      let answer = try fixture.wallet.answer(
        digitalCredential: name, data: try #require(session.requestData(name)), origin: "https://shop.example",
        at: fixture.clock.now)
      let after = try await fixture.submit(answer.data, by: other, to: session)
      #expect(after.status == "failed")
      #expect(after["last_error"]?["code"] == "jwe.key_unknown")
    }
  }

  @Test("the shape of `data` is that of the protocol")
  func shapes() async throws {
    let fixture = try OpenID4VPServiceFixture(readers: ["*verifier.example", "other.example"])
    let session = try await fixture.create("openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned")
    let unsigned = try #require(session.requestData("openid4vp-v1-unsigned"))
    #expect(unsigned["client_id"] == nil && unsigned["response_mode"] == "dc_api.jwt")
    let signed = try #require(session.requestData("openid4vp-v1-signed"))
    #expect(signed.object?.map(\.name) == ["request"])
    #expect(signed["request"]?.string?.split(separator: ".").count == 3)
    let multisigned = try #require(session.requestData("openid4vp-v1-multisigned")?["request"])
    #expect(multisigned.object?.map(\.name) == ["payload", "signatures"])
    #expect(multisigned["signatures"]?.array?.count == 2)
    // Every request has a nonce of its own.
    let payload = try JSON(parsing: Base64.decodeURLSafe(multisigned["payload"]?.string ?? "") ?? [])
    #expect(payload["nonce"]?.string != unsigned["nonce"]?.string)
  }

  @Test("every protocol that can names the accepted issuers of a document type, and of no other")
  func acceptedIssuers() async throws {
    func sent(_ issuers: [String: [[UInt8]]], readers: [String]) async throws -> [JSON?] {
      let fixture = try OpenID4VPServiceFixture(readers: readers, acceptedIssuers: issuers)
      let web = try await fixture.create("openid4vp-v1-unsigned", "org-iso-mdoc")
      let near = try await fixture.create("iso-18013-5-proximity")
      let requests = [
        web.requestData("org-iso-mdoc")?["deviceRequest"], near.requestData("iso-18013-5-proximity")?["device_request"],
      ]
      let query = web.requestData("openid4vp-v1-unsigned")?["dcql_query"]?["credentials"]?.array?.first
      return try [query?["trusted_authorities"]]
        + requests.map { text in
          let bytes = try #require(text?.string.flatMap(Base64.decodeURLSafe))
          let items = try CBORItem(parsing: bytes)[key: "docRequests"]?.elements?.first { _ in true }
          let info = items?[key: "itemsRequest"]?.embedded?[key: "requestInfo"]
          return (info?[key: "issuerIdentifiers"]?.elements).map { list in
            .array(list.map { .string(Hex.encode(Array($0.bytes ?? []))) })
          }
        }
    }
    let known: [String: [[UInt8]]] = [DocType.mDL: [[1, 2, 3], [0xff, 0xfe]], "other": [[4]]]
    for readers in [[], ["*verifier.example"]] {
      let identifiers: JSON = ["010203", "fffe"]
      #expect(
        try await sent(known, readers: readers)
          == [[["type": "aki", "values": ["AQID", "__4"]]], identifiers, identifiers])
      #expect(try await sent(["other": [[4]]], readers: readers) == [nil, nil, nil])
    }
  }

  @Test("clear responses are requested and accepted only if the relying party has chosen so")
  func clear() async throws {
    let encrypting = try OpenID4VPServiceFixture()
    let clear = try OpenID4VPServiceFixture(openID4VP: OpenID4VPConfiguration(encryptsResponses: false))
    let name = "openid4vp-v1-unsigned"
    let session = try await clear.create(name)
    let data = try #require(session.requestData(name))
    #expect(data["response_mode"] == "dc_api")
    let answer = try clear.wallet.answer(
      digitalCredential: name, data: data, origin: "https://shop.example", at: clear.clock.now)
    #expect(answer.data["vp_token"] != nil)
    #expect(try await clear.submit(answer.data, by: name, to: session).status == "verified")
    let other = try await encrypting.create(name)
    let refused = try await encrypting.submit(answer.data, by: name, to: other)
    #expect(refused["last_error"]?["code"] == "envelope.not_encrypted")
  }

  @Test("requests are signed by a reader that is there and valid", arguments: ["signed", "multisigned"])
  func readers(name: String) throws {
    let signing: OpenID4VPWebProtocol.Signing = name == "signed" ? .signed : .multisigned
    let wallet = OpenID4VPWebProtocol(signing)
    func code(_ fixture: OpenID4VPServiceFixture, at now: Timestamp? = nil) throws -> Code? {
      let context = try fixture.context(at: now)
      do throws(ServiceError) {
        _ = try wallet.makeRequest(OpenID4VPServiceFixture.request, in: context)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try code(OpenID4VPServiceFixture(readers: [])) == .apiProtocolUnsupported)
    let fixture = try OpenID4VPServiceFixture()
    #expect(try code(fixture) == nil)
    #expect(try code(fixture, at: fixture.clock.now + 400 * 86_400) == .readerCertificateExpired)
    #expect(try code(fixture, at: fixture.clock.now - 100 * 86_400) == .readerCertificateExpired)
  }

  @Test("neither a response nor an error, or both, is refused before anything is consumed")
  func strictAnswers() throws {
    let wallet = OpenID4VPWebProtocol(.unsigned)
    let wrong: [(JSON, String)] = [
      ("text", "/data"), ([:], "/data"), ([], "/data"), (["state": "x"], "/data"),
      (["response": "a", "vp_token": [:]], "/data"), (["response": "a", "error": "access_denied"], "/data"),
      (["response": 1], "/data/response"), (["error": 1], "/data/error"),
    ]
    for (data, pointer) in wrong {
      let error = #expect(throws: ServiceError.self) { try wallet.decode(data, at: "/data") }
      #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == [pointer])
    }
    for data in [["response": "x"], ["vp_token": [:]], ["response": "x", "state": "1"]] as [JSON] {
      guard case .response(.parameters(data)) = try wallet.decode(data, at: "/data") else {
        Issue.record("\(data) is no response")
        continue
      }
    }
  }

  @Test(
    "a wallet's error is its own word",
    arguments: [("access_denied", Code.walletAccessDenied), ("x", .walletOtherError)])
  func errors(name: String, code: Code) throws {
    for (words, kept) in [(nil, nil), ("", nil), (1, nil), ("Not\u{202e} now", "Not\u{fffd} now")] as [(JSON?, String?)]
    {
      let data = JSON.members(["error": .string(name), "error_description": words])
      guard case .refusal(code, let description) = try OpenID4VPWebProtocol(.signed).decode(data, at: "/data") else {
        Issue.record("it is no refusal")
        return
      }
      #expect(description == kept)
    }
  }
}
