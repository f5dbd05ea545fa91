import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import PKIX
import Testing

@testable import Sessions

/// The checks of the OpenID Foundation's conformance suite for a verifier's request by link, row by row, from its plans
/// for verifiers of mdocs (12f2a4d of 2026-08-20): `oid4vp-1final-verifier-test-plan`, and the plan for HAIP. The row
/// on `verifier_info` is in `RegistrationTests`.
@Suite struct ConformanceSuiteTests {
  /// Encrypted as HAIP requires, and unencrypted.
  static let forms = [true, false]

  private let now = FakeClock().now

  /// A fetched request object with the link that named it.
  private struct Fetched {
    let link: [(name: String, value: String)]
    let header: JSON
    let claims: JSON
    let certificates: [Certificate]
    let text: String

    init(_ object: [UInt8], link: String) throws {
      text = String(decoding: object, as: UTF8.self)
      let parts = text.split(separator: ".").map { Base64.decodeURLSafe(String($0)) ?? [] }
      try #require(parts.count == 3)
      header = try JSON(parsing: parts[0])
      claims = try JSON(parsing: parts[1])
      certificates = try (header["x5c"]?.array ?? []).map {
        try Certificate(der: Base64.decode($0.string ?? "") ?? [])
      }
      self.link = (link.split(separator: "?").last ?? "").split(separator: "&").map { pair in
        let sides = pair.split(separator: "=", maxSplits: 1)
        return (String(sides[0]), String(sides[1]))
      }
    }

    /// Percent-encoding undone.
    func parameter(_ name: String) -> String? {
      link.first { $0.name == name }?.value.replacing("%3A", with: ":").replacing("%2F", with: "/")
    }
  }

  /// Configured as in `PassTheConformanceSuite`.
  private func fixture(isEncrypted: Bool = true) throws -> OpenID4VPServiceFixture {
    try OpenID4VPServiceFixture(
      readers: ["verifier.example"],
      openID4VP: OpenID4VPConfiguration(
        encryptsResponses: isEncrypted, acceptsMACs: false, redirectURI: "https://shop.example/done"))
  }

  private func fetch(_ isEncrypted: Bool = true, walletNonce: String? = nil) async throws -> Fetched {
    let fixture = try fixture(isEncrypted: isEncrypted)
    return try await fetch(fixture, fixture.create("openid4vp"), walletNonce)
  }

  private func fetch(
    _ fixture: OpenID4VPServiceFixture, _ session: JSON, _ walletNonce: String? = nil
  ) async throws -> Fetched {
    let link = session.requestData("openid4vp")?["authorization_request"]?.string ?? ""
    return try Fetched(await fixture.requestObject(of: session, walletNonce: walletNonce), link: link)
  }

  // MARK: The link and the signer

  @Test func `link: client_id, request_uri and request_uri_method only, https without a fragment`() async throws {
    let fetched = try await fetch()
    #expect(fetched.link.map(\.name) == ["client_id", "request_uri", "request_uri_method"])
    let uri = try #require(fetched.parameter("request_uri"))
    #expect(uri.hasPrefix("https://") && !uri.contains("#"))
    #expect(["get", "post"].contains(fetched.parameter("request_uri_method")))
  }

  @Test func `client_id: x509_hash of the first certificate, the same in link and object`() async throws {
    let fetched = try await fetch()
    let leaf = try #require(fetched.certificates.first)
    let expected = "x509_hash:" + Base64.encodeURLSafe(HashAlgorithm.sha256.hash(leaf.der))
    #expect(fetched.claims["client_id"]?.string == expected && fetched.parameter("client_id") == expected)
  }

  @Test func `client_id: x509_san_dns is the configured name`() async throws {
    let fixture = try OpenID4VPServiceFixture()
    let fetched = try await fetch(fixture, fixture.create("openid4vp"))
    let names = [fetched.parameter("client_id"), fetched.claims["client_id"]?.string]
    #expect(names == ["x509_san_dns:verifier.example", "x509_san_dns:verifier.example"])
    #expect(fetched.certificates.first?.dnsNames.contains("verifier.example") == true)
  }

  @Test func `x5c: in date, not self-signed, a chain without its anchor; typ; the signature is good`() async throws {
    let fetched = try await fetch()
    let leaf = try #require(fetched.certificates.first)
    #expect(fetched.header["typ"] == "oauth-authz-req+jwt")
    #expect(fetched.certificates.allSatisfy { $0.validity.contains(now) && !$0.isSelfSigned })
    let root = try Certificate(der: fixture().authority.reader(dnsName: "verifier.example", at: now).root)
    #expect(Certificate.isChain(fetched.certificates + [root]))
    let parts = fetched.text.split(separator: ".").map(String.init)
    let signature = Base64.decodeURLSafe(parts[2]) ?? []
    let signed = Array((parts[0] + "." + parts[1]).utf8)
    #expect(leaf.publicKey?.verifyECDSA(signature, of: signed, hash: .sha256) == true)
  }

  // MARK: The object

  @Test(arguments: forms) func `members: none beyond the suite's list, none that is forbidden`(isEncrypted: Bool)
    async throws
  {
    let known: Set = [
      "dcql_query", "client_id", "response_uri", "client_metadata", "nonce", "state", "response_type", "response_mode",
      "verifier_info", "wallet_nonce", "aud", "iss", "iat", "nbf", "exp", "jti",
    ]
    let claims = try await fetch(isEncrypted).claims
    #expect(Set(claims.object?.map(\.name) ?? []).subtracting(known) == [])
    for name in [
      "client_id_scheme", "scope", "redirect_uri", "transaction_data", "request", "request_uri", "request_uri_method",
      "sub",
    ] {
      #expect(claims[name] == nil, "\(name)")
    }
    #expect(claims["response_type"] == "vp_token" && claims["aud"] == "https://self-issued.me/v2")
    #expect(claims["response_mode"]?.string == (isEncrypted ? "direct_post.jwt" : "direct_post"))
    #expect(claims["iss"] == nil || claims["iss"] == claims["client_id"])
  }

  @Test func `exp and iat: absent, so neither past nor too far ahead`() async throws {
    let claims = try await fetch().claims
    #expect(["exp", "iat", "nbf"].allSatisfy { claims[$0] == nil })
  }

  @Test func `wallet_nonce: in the object when posted, absent when not; fetched twice`() async throws {
    let fixture = try fixture()
    let session = try await fixture.create("openid4vp")
    let nonce = Base64.encodeURLSafe([UInt8](repeating: 7, count: 32))
    let objects = [
      try await fetch(fixture, session), try await fetch(fixture, session), try await fetch(fixture, session, nonce),
    ]
    #expect(objects.map { $0.claims["wallet_nonce"]?.string } == [nil, nil, nonce])
    #expect(Set(objects.map { $0.claims["nonce"]?.string }).count == 1)
  }

  @Test func `response_uri: https without a fragment`() async throws {
    let uri = try #require(try await fetch().claims["response_uri"]?.string)
    #expect(uri.hasPrefix("https://") && !uri.contains("#"))
  }

  @Test func `nonce: of its alphabet, 16 to 43 characters, 96 bits`() async throws {
    let nonces = [try await fetch(), try await fetch()].compactMap { $0.claims["nonce"]?.string }
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    for nonce in nonces {
      #expect((16...43).contains(nonce.count) && nonce.allSatisfy(alphabet.contains))
      #expect(Base64.decodeURLSafe(nonce)?.count ?? 0 >= 12)
    }
    #expect(Set(nonces).count == 2)
  }

  // MARK: client_metadata

  @Test(arguments: forms) func `client_metadata: its three members only`(isEncrypted: Bool) async throws {
    let known: Set = ["jwks", "vp_formats_supported", "encrypted_response_enc_values_supported"]
    let metadata = try #require(try await fetch(isEncrypted).claims["client_metadata"]?.object)
    #expect(Set(metadata.map(\.name)).subtracting(known) == [])
  }

  /// The suite's table lacks -65537, which OpenID4VP 1.0, B.2.2 defines: `device_mac` leaves it out.
  @Test(arguments: forms) func `vp_formats_supported: algorithms of the suite's table`(isEncrypted: Bool) async throws {
    let known = Set(
      [-7, -8, -9, -19, -65535] + (35...39).map { -$0 } + (46...53).map { -$0 } + (257...260).map { -$0 }
        + (265...268).map { -$0 })
    let formats = try #require(try await fetch(isEncrypted).claims["client_metadata"]?["vp_formats_supported"])
    for name in ["issuerauth_alg_values", "deviceauth_alg_values"] {
      let values = try #require(formats["mso_mdoc"]?[name]?.array)
      #expect(!values.isEmpty && Set(values.compactMap(\.integer).map(Int.init)).isSubset(of: known), "\(name)")
      #expect(values.compactMap(\.integer).count == values.count)
    }
  }

  @Test func `jwks and enc values: one P-256 key for ECDH-ES, public, new in each request; both GCM sizes`()
    async throws
  {
    let all = [try await fetch(), try await fetch()].compactMap { $0.claims["client_metadata"] }
    let keys = all.flatMap { $0["jwks"]?["keys"]?.array ?? [] }
    #expect(keys.count == 2 && Set(keys.map { $0["x"]?.string }).count == 2)
    for key in keys {
      #expect(key["kid"]?.string?.isEmpty == false && key["alg"] == "ECDH-ES" && key["crv"] == "P-256")
      #expect(key["use"] == "enc" && key["d"] == nil)
    }
    #expect(all.allSatisfy { $0["encrypted_response_enc_values_supported"] == ["A128GCM", "A256GCM"] })
  }

  // MARK: The query

  @Test func `dcql_query: the suite's schema, with and without claim_sets`() async throws {
    let fixture = try fixture()
    for isRequired in [true, false] {
      let elements = ["given_name", "family_name"].map { name -> JSON in
        [
          "namespace": .string(Namespace.mDL), "identifier": .string(name),
          "required": .bool(isRequired || name == "given_name"),
        ]
      }
      let session = try await fixture.create(
        ["openid4vp"], ["documents": [["doc_type": .string(DocType.mDL), "elements": .array(elements)]]])
      let query = try #require(try await fetch(fixture, session).claims["dcql_query"])
      let credentials = try #require(query["credentials"]?.array)
      #expect(Set(credentials.map { $0["id"]?.string }).count == credentials.count)
      for credential in credentials {
        try check(credential)
        #expect((credential["claim_sets"] != nil) == !isRequired)
      }
    }
  }

  private func check(_ credential: JSON) throws {
    let id = try #require(credential["id"]?.string)
    #expect(id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) })
    #expect(credential["format"] == "mso_mdoc" && credential["meta"]?.object?.map(\.name) == ["doctype_value"])
    let known: Set = ["id", "format", "meta", "claims", "claim_sets", "trusted_authorities"]
    #expect(Set(credential.object?.map(\.name) ?? []).subtracting(known) == [])
    let claims = try #require(credential["claims"]?.array)
    let paths = claims.compactMap { $0["path"]?.array?.compactMap(\.string) }
    #expect(paths.allSatisfy { $0.count == 2 } && Set(paths).count == claims.count)
    for claim in claims {
      #expect(Set(claim.object?.map(\.name) ?? []).subtracting(["id", "path", "values", "intent_to_retain"]) == [])
    }
    let ids = Set(claims.compactMap { $0["id"]?.string })
    let sets = (credential["claim_sets"]?.array ?? []).map { Set(($0.array ?? []).compactMap(\.string)) }
    // A claim that no set names is a warning.
    #expect(sets.isEmpty || sets.reduce(Set()) { $0.union($1) } == ids)
  }

  // MARK: The response to the post

  /// Posts the mock wallet's response, as the suite does, and returns the session afterwards.
  private func post(
    _ fixture: OpenID4VPServiceFixture, _ authentication: MockWebAuthentication = .signature,
    _ variant: MockVariant = .good, isEncrypted: Bool = true
  ) async throws -> (reply: JSON, session: JSON) {
    let session = try await fixture.create("openid4vp")
    let object = try await fixture.requestObject(of: session)
    let answer = try fixture.wallet.answer(
      requestObject: object, authentication: authentication, variant: variant, at: fixture.clock.now)
    let id = session["id"]?.string ?? ""
    let reply = try await fixture.service.receiveWalletResponse(answer.data, session: id, of: "shop")
    return (reply.body, try await fixture.service.session(id, as: fixture.caller).body)
  }

  @Test(arguments: forms) func `happy flow: an object with redirect_uri, verified`(isEncrypted: Bool) async throws {
    let (reply, session) = try await post(fixture(isEncrypted: isEncrypted))
    #expect(reply.object?.map(\.name) == ["redirect_uri"])
    #expect(reply["redirect_uri"]?.string?.hasPrefix("https://shop.example/done#response_code=") == true)
    #expect(session.status == "verified")
  }

  /// The suite passes the module at a status of 4xx, which comes with `error` (`WalletEndpointTests`).
  @Test func `invalid session transcript: a well-formed reply, refused`() async throws {
    let variant = try #require(MockVariant.all.first { $0.name == "openid4vp-nonce-other" })
    let (reply, session) = try await post(fixture(), .signature, variant)
    #expect(reply.object?.map(\.name) == ["redirect_uri", "error", "error_description"])
    #expect(reply["error"] == "mdoc.device_auth.signature_invalid")
    #expect(session.status == "failed" && session["last_error"]?["code"] == "mdoc.device_auth.signature_invalid")
  }

  // MARK: Effects of the configuration

  @Test func `without device_mac a MAC is refused, with it it verifies`() async throws {
    let refused = try await post(fixture(), .mac).session
    #expect(refused["last_error"]?["code"]?.string == Code.deviceMacNotAllowed.rawValue)
    let (_, session) = try await post(OpenID4VPServiceFixture(readers: ["verifier.example"]), .mac)
    #expect(session.status == "verified")
  }

  @Test func `redirect_uri of the configuration counts where the session names no address of its own`() async throws {
    func reply(_ configuration: OpenID4VPConfiguration, _ members: [String: JSON]) async throws -> String? {
      let fixture = try OpenID4VPServiceFixture(readers: ["verifier.example"], openID4VP: configuration)
      let session = try await fixture.create(["openid4vp"], members)
      let answer = try fixture.wallet.answer(
        requestObject: try await fixture.requestObject(of: session), at: fixture.clock.now)
      let id = session["id"]?.string ?? ""
      let reply = try await fixture.service.receiveWalletResponse(answer.data, session: id, of: "shop")
      return reply.body["redirect_uri"]?.string?.split(separator: "#").first.map(String.init)
    }
    let configured = OpenID4VPConfiguration(redirectURI: "https://shop.example/done")
    let own: [String: JSON] = ["redirect_uri": "https://shop.example/own"]
    #expect(try await reply(configured, [:]) == "https://shop.example/done")
    #expect(try await reply(configured, own) == "https://shop.example/own")
    #expect(try await reply(OpenID4VPConfiguration(), [:]) == nil)
  }
}
