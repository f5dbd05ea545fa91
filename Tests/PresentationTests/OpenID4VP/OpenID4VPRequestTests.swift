import Base
import Cryptography
import JOSE
import Mdoc
import Mock
import PKIX
import Testing

@testable import Presentation

/// Requests to wallets, member by member.
@Suite struct OpenID4VPRequestTests {
  let fixture: OpenID4VPFixture

  init() throws { fixture = try OpenID4VPFixture() }

  @Test func anUnsignedRequestHasNoClientIdentifier() throws {
    let json = OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).unsigned
    #expect(
      json.object?.map(\.name)
        == ["response_type", "response_mode", "nonce", "dcql_query", "client_metadata"])
    #expect(json["response_type"] == "vp_token" && json["response_mode"] == "dc_api.jwt")
    #expect(json["nonce"]?.string == OpenID4VPFixture.nonce)
    #expect(json["dcql_query"] == DCQLQuery(fixture.request).json)
  }

  @Test func metadataHaveTheKeyToEncryptToAndWhatIsVerified() throws {
    let json = OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).unsigned
    let metadata = try #require(json["client_metadata"])
    #expect(metadata["jwks"] == ["keys": [JSONWebKey.encryptionKey(fixture.key.publicKey)]])
    let key = try #require(metadata["jwks"]?["keys"]?.array?.first)
    #expect(key["kid"]?.string == Base64.encodeURLSafe(thumbprint(of: fixture.key.publicKey)))
    #expect(key["alg"] == "ECDH-ES" && key["use"] == "enc" && key["d"] == nil)
    #expect(metadata["encrypted_response_enc_values_supported"] == ["A128GCM", "A256GCM"])
    let formats = try #require(metadata["vp_formats_supported"]?["mso_mdoc"])
    let issuer = try #require(formats["issuerauth_alg_values"]?.array).compactMap(\.integer)
    #expect(Set(issuer).isSuperset(of: [-7, -9, -35, -51, -36, -52, -8, -19]))
    // Only devices may use a MAC.
    #expect(formats["deviceauth_alg_values"]?.array?.compactMap(\.integer) == issuer + [-65537])
  }

  @Test func withoutEncryptionThereIsNoKeyAndNoMAC() throws {
    for (recipient, mode) in [(OpenID4VPFixture.page, "dc_api"), (OpenID4VPFixture.server, "direct_post")] {
      let challenge = fixture.challenge(recipient, isEncrypted: false)
      let json = OpenID4VPRequest(fixture.request, challenge: challenge).unsigned
      #expect(json["response_mode"]?.string == mode)
      #expect(json["client_metadata"]?.object?.map(\.name) == ["vp_formats_supported"])
      let values = json["client_metadata"]?["vp_formats_supported"]?["mso_mdoc"]?["deviceauth_alg_values"]?.array
      #expect(values?.contains(-65537) == false)
    }
  }

  @Test func aSignedRequestNamesItsReaderAndTheOriginsItIsFor() throws {
    let reader = try fixture.reader()
    let text = try OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).signed(by: reader)
    let jws = try CompactJWS(parsing: text.utf8)
    #expect(jws.header.type == "oauth-authz-req+jwt" && jws.header.algorithmName == "ES256")
    #expect(jws.header.certificateChain == [reader.leaf.der])
    #expect(jws.verify(with: reader.key.publicKey) == .valid)
    let payload = try JSON(parsing: jws.payload)
    #expect(payload["client_id"]?.string == "x509_hash:" + Base64.encodeURLSafe(reader.leaf.sha256))
    #expect(payload["expected_origins"] == ["https://shop.example"])
    #expect(payload["aud"] == "https://self-issued.me/v2")
    #expect(payload["response_mode"] == "dc_api.jwt" && payload["state"] == nil && payload["response_uri"] == nil)
  }

  @Test func theTrustAnchorIsNotSent() throws {
    let mock = try fixture.setup.authority.reader(dnsName: "verifier.example", at: fixture.setup.now)
    let chain = try (mock.certificates + [mock.root]).map { try Certificate(der: $0) }
    let reader = try ReaderIdentity(key: mock.key, certificates: chain)
    let text = try OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).signed(by: reader)
    #expect(try CompactJWS(parsing: text.utf8).header.certificateChain == mock.certificates)
  }

  @Test func severalReadersSignOneRequestEachUnderItsOwnName() throws {
    let readers = [
      try fixture.reader(), try fixture.reader("other.example", by: .dnsName("other.example")),
    ]
    let json = try OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).signed(by: readers)
    let payload = try #require(json["payload"]?.string)
    let signatures = try #require(json["signatures"]?.array)
    #expect(signatures.count == 2)
    for (reader, entry) in zip(readers, signatures) {
      let parts = [try #require(entry["protected"]?.string), payload, try #require(entry["signature"]?.string)]
      let jws = try CompactJWS(parsing: parts.joined(separator: ".").utf8)
      #expect(jws.verify(with: reader.key.publicKey) == .valid)
      #expect(jws.header.type == "oauth-authz-req+jwt" && jws.header.certificateChain == [reader.leaf.der])
      #expect(jws.header["client_id"]?.string == reader.clientID)
    }
    let claims = try JSON(parsing: try #require(Base64.decodeURLSafe(payload)))
    #expect(claims["client_id"] == nil && claims["expected_origins"] == ["https://shop.example"])
  }

  @Test func aRequestObjectSaysWhereTheAnswerGoes() throws {
    let reader = try fixture.reader(by: .dnsName("verifier.example"))
    let request = OpenID4VPRequest(fixture.request, challenge: fixture.challenge(OpenID4VPFixture.server))
    let payload = try JSON(parsing: CompactJWS(parsing: request.signed(by: reader).utf8).payload)
    #expect(payload["client_id"] == "x509_san_dns:verifier.example")
    #expect(payload["response_uri"] == "https://verifier.example/v1/wallet/shop/vs_1/response")
    #expect(payload["response_mode"] == "direct_post.jwt")
    #expect(payload["state"]?.string == OpenID4VPFixture.state)
    #expect(payload["expected_origins"] == nil && payload["redirect_uri"] == nil && payload["wallet_nonce"] == nil)
    #expect(payload["aud"] == "https://self-issued.me/v2")
  }

  @Test func theWalletFindsItsNonceAgain() throws {
    let request = OpenID4VPRequest(fixture.request, challenge: fixture.challenge(OpenID4VPFixture.server))
    let text = try request.signed(by: fixture.reader(), walletNonce: "a \"quoted\" nonce")
    let payload = try JSON(parsing: CompactJWS(parsing: text.utf8).payload)
    #expect(payload["wallet_nonce"] == "a \"quoted\" nonce")
  }

  @Test(arguments: [
    "access_denied", "invalid_request", "invalid_client", "vp_formats_not_supported",
    "invalid_request_uri_method", "invalid_transaction_data",
  ])
  func everyErrorOfTheStandardHasItsCode(name: String) {
    #expect(Code(walletError: name).rawValue == "wallet." + name)
  }

  @Test func anyOtherErrorIsOneToo() {
    #expect(Code(walletError: "wallet_unavailable") == .walletUnavailable)
    for name in ["", "invalid_scope", "ACCESS_DENIED", "access_denied "] {
      #expect(Code(walletError: name) == .walletOtherError)
    }
  }
}
