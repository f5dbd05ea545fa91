import Base
import Cryptography
import JOSE
import Mock
import Testing

@testable import Presentation

/// A wallet's metadata (OpenID4VP 1.0, 5.10 and 10) against the needs of the request.
@Suite struct WalletMetadataTests {
  let fixture: OpenID4VPFixture

  init() throws { fixture = try OpenID4VPFixture() }

  private func encryption(_ metadata: JSON, isEncrypted: Bool = true) throws -> RequestEncryption? {
    let request = OpenID4VPRequest(
      fixture.request, challenge: fixture.challenge(OpenID4VPFixture.server, isEncrypted: isEncrypted))
    return try request.encryption(
      for: WalletMetadata(parsing: metadata.text()), signedBy: fixture.reader(by: .dnsName("verifier.example")))
  }

  private func fault(_ metadata: JSON, isEncrypted: Bool = true) throws -> WalletMetadataError? {
    do {
      _ = try encryption(metadata, isEncrypted: isEncrypted)
      return nil
    } catch let error as WalletMetadataError {
      return error
    }
  }

  private static let jwk: JSON = [
    "kty": "EC", "crv": "P-256", "x": "YO4epjifD-KWeq1sL2tNmm36BhXnkJ0He-WqMYrp9Fk",
    "y": "Hekpm0zfK7C-YccH5iBjcIXgf6YdUvNUac_0At55Okk",
  ]

  private static func key(_ changes: KeyValuePairs<String, JSON>) -> JSON {
    var members = jwk.object ?? []
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      members.append(.init(name, value))
    }
    return .object(members)
  }

  @Test(
    arguments: [
      [:], ["jwks": .null, "vp_formats_supported": ["mso_mdoc": [:]], "issuer": 7],
      ["vp_formats_supported": ["dc+sd-jwt": .null, "mso_mdoc": ["alg": ["ES256"]]]],
      ["vp_formats_supported": ["mso_mdoc": ["issuerauth_alg_values": [-7], "deviceauth_alg_values": [-65537]]]],
      [
        "client_id_prefixes_supported": ["x509_hash", "x509_san_dns"], "response_types_supported": ["vp_token"],
        "response_modes_supported": ["direct_post", "direct_post.jwt"],
        "request_object_signing_alg_values_supported": ["RS256", "ES256"],
        "authorization_encryption_alg_values_supported": ["ECDH-ES"],
        "authorization_encryption_enc_values_supported": ["A256GCM"],
        "request_object_encryption_alg_values_supported": ["RSA-OAEP"],
      ], ["jwks": ["keys": [key(["use": "sig"])]]],
    ] as [JSON])
  func `a wallet that takes the request gets it in the clear`(metadata: JSON) throws {
    #expect(try fault(metadata) == nil)
    #expect(try encryption(metadata) == nil)
  }

  @Test(
    arguments: [
      (["vp_formats_supported": ["dc+sd-jwt": [:]]], "/vp_formats_supported"),
      (["vp_formats_supported": ["mso_mdoc": .null]], "/vp_formats_supported"),
      (["vp_formats_supported": ["mso_mdoc": 7]], "/vp_formats_supported"),
      (
        ["vp_formats_supported": ["mso_mdoc": ["issuerauth_alg_values": [-257]]]],
        "/vp_formats_supported/mso_mdoc/issuerauth_alg_values"
      ),
      (
        ["vp_formats_supported": ["mso_mdoc": ["deviceauth_alg_values": ["ES256"]]]],
        "/vp_formats_supported/mso_mdoc/deviceauth_alg_values"
      ),
      (["client_id_prefixes_supported": ["x509_hash", "redirect_uri"]], "/client_id_prefixes_supported"),
      (["response_types_supported": ["code"]], "/response_types_supported"),
      (["response_modes_supported": ["direct_post", "fragment"]], "/response_modes_supported"),
      (["request_object_signing_alg_values_supported": ["EdDSA"]], "/request_object_signing_alg_values_supported"),
      (["authorization_encryption_alg_values_supported": ["dir"]], "/authorization_encryption_alg_values_supported"),
      (
        ["authorization_encryption_enc_values_supported": ["A128CBC-HS256"]],
        "/authorization_encryption_enc_values_supported"
      ),
      (
        ["jwks": ["keys": [jwk]], "request_object_encryption_alg_values_supported": ["ECDH-ES+A128KW"]],
        "/request_object_encryption_alg_values_supported"
      ),
      (
        ["jwks": ["keys": [jwk]], "request_object_encryption_enc_values_supported": ["A192GCM"]],
        "/request_object_encryption_enc_values_supported"
      ),
      (["jwks": ["keys": [["kty": "RSA", "n": "AQAB", "e": "AQAB"]]]], "/jwks/keys"),
      (["jwks": ["keys": [key(["alg": "ECDH-ES+A128KW"])]]], "/jwks/keys"),
      (["jwks": ["keys": [key(["d": "AQ"])]]], "/jwks/keys"),
      (["jwks": ["keys": [key(["y": "AQ"])]]], "/jwks/keys"),
    ] as [(JSON, String)])
  func `a wallet that does not take the request is told why`(metadata: JSON, pointer: String) throws {
    let error = try fault(metadata)
    #expect(error?.code == .apiWalletUnsupported && error?.pointer == pointer, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      ([], ""), ("{}", ""), (["vp_formats_supported": []], "/vp_formats_supported"),
      (["client_id_prefixes_supported": []], "/client_id_prefixes_supported"),
      (["response_modes_supported": "direct_post.jwt"], "/response_modes_supported"),
      (
        ["vp_formats_supported": ["mso_mdoc": ["issuerauth_alg_values": -7]]],
        "/vp_formats_supported/mso_mdoc/issuerauth_alg_values"
      ),
      (["jwks": []], "/jwks"), (["jwks": ["keys": [:]]], "/jwks"),
      (["jwks": ["keys": .array([JSON](repeating: jwk, count: 9))]], "/jwks"),
      (
        ["jwks": ["keys": [jwk]], "request_object_encryption_enc_values_supported": [:]],
        "/request_object_encryption_enc_values_supported"
      ),
      (["x": .string(String(repeating: "x", count: 16 << 10))], ""),
    ] as [(JSON, String)])
  func `what is no metadata is malformed`(metadata: JSON, pointer: String) throws {
    let error = try fault(metadata)
    #expect(error?.code == .apiInvalidRequest && error?.pointer == pointer, "\(String(describing: error))")
  }

  @Test func `text that is no JSON, or has a name twice, is malformed`() throws {
    for text in ["", "{", "{\"a\":1,\"a\":1}", "null", "\u{0}"] {
      #expect(throws: WalletMetadataError.self) { try WalletMetadata(parsing: text) }
    }
  }

  @Test func `without encrypted responses the wallet's algorithms for them do not matter`() throws {
    let metadata: JSON = [
      "authorization_encryption_alg_values_supported": ["dir"], "response_modes_supported": ["direct_post"],
    ]
    #expect(try fault(metadata, isEncrypted: false) == nil)
    #expect(try fault(metadata)?.code == .apiWalletUnsupported)
  }

  @Test func `the wallet's first key and method that we have are taken, and A128GCM where it names none`() throws {
    let p521 = try PrivateKey(generatingOn: .p521)
    let keys: JSON = [
      "keys": [
        ["kty": "OKP", "crv": "X25519", "x": "WPX7wnwq10hFNK9aDSyG1QlLswE_CJY14LdhcFUIVVc"], Self.key(["use": "sig"]),
        JSONWebKey.encryptionKey(p521.publicKey), Self.jwk,
      ]
    ]
    let chosen = try #require(
      try encryption([
        "jwks": keys, "request_object_encryption_enc_values_supported": ["A128CBC-HS256", "A256GCM", "A128GCM"],
      ]))
    #expect(chosen.key == p521.publicKey && chosen.encryption == .a256GCM)
    #expect(chosen.keyID == Base64.encodeURLSafe(JSONWebKey.thumbprint(of: p521.publicKey)))
    #expect(try encryption(["jwks": ["keys": [Self.jwk]]])?.encryption == .a128GCM)
    let jwe = try CompactJWE(parsing: chosen.encrypt("a.b.c").utf8)
    #expect(try jwe.decrypt(with: p521) == Array("a.b.c".utf8))
  }
}
