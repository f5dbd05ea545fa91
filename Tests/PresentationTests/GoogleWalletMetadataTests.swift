import Base
import CBOR
import Cryptography
import JOSE
import PKIX
import TestSupport
import Testing

@testable import Mock
@testable import Presentation

@Suite struct GoogleWalletMetadataTests {
  private func detail(_ text: String) -> String? {
    do throws(GoogleWalletMetadataError) {
      _ = try GoogleWalletMetadata(text)
      return nil
    } catch {
      return error.detail
    }
  }

  private func metadata(_ change: (inout [String: CBORValue]) -> Void) -> String {
    var display: [String: CBORValue] = [
      "display_name": "Shop", "logo_uri": "https://shop.example/l", "privacy_policy_uri": "https://shop.example/p",
    ]
    change(&display)
    let info = CBORValue.map(display.map { (key: .text($0.key), value: $0.value) })
    return Base64.encodeURLSafe(CBORValue.embedded(["schema_version": "v1", "display": info]).encoded())
  }

  @Test func `the hash is that of all bytes, the tag's head included`() throws {
    #expect(Hex.encode(try GoogleWalletMetadata(GoogleWalletFixture.text).sha256) == GoogleWalletFixture.sha256)
    #expect(try GoogleWalletMetadata(GoogleWalletFixture.other).text == GoogleWalletFixture.other)
    #expect(detail(metadata { _ in }) == nil)
  }

  @Test func `what is no metadata is refused with its rule`() throws {
    let text = GoogleWalletFixture.text
    let bytes = try #require(Base64.decodeURLSafe(text))
    let map = "must be a CBOR map in tag 24, with nothing after it"
    for wrong in [text + "=", text + "\n", text + "A", " " + text, Base64.encode(bytes + [0xff])] {
      #expect(detail(wrong) == "must be base64url, without padding or white space", "\(wrong)")
    }
    #expect(detail(Base64.encodeURLSafe(bytes + [0])) == map)
    #expect(detail(Base64.encodeURLSafe(Array(bytes.dropFirst(4)))) == map)
    #expect(detail(Base64.encodeURLSafe(Array(bytes.dropLast()))) == map)
    #expect(detail(Base64.encodeURLSafe(CBORValue.embedded(["v1"]).encoded())) == map)
    #expect(
      detail(Base64.encodeURLSafe(CBORValue.embedded(["display": [:]]).encoded()))?.contains("schema_ver") == true)
    #expect(detail(metadata { $0["display_name"] = "" }) == "must have display.display_name")
    #expect(detail(metadata { $0["logo_uri"] = nil }) == "must have an https address in display.logo_uri")
    #expect(
      detail(metadata { $0["privacy_policy_uri"] = "http://shop.example/p" })
        == "must have an https address in display.privacy_policy_uri")
  }

  @Test func `a reader's certificate names its metadata, or none`() throws {
    let issuer = CertificateIssuer(
      name: try MockAuthority(seed: [1]).name("Reader Authority"), key: try PrivateKey(generatingOn: .p256))
    let key = try PrivateKey(generatingOn: .p256)
    func reader(_ hash: [UInt8]?) throws -> ReaderIdentity {
      let extensions = hash.map {
        [CertificateExtension(oid: GoogleWalletMetadata.extensionOID, isCritical: false, value: [0x04, 0x20] + $0)]
      }
      let leaf = CertificateTemplate(
        issuer: issuer.name, notBefore: Timestamp(secondsSince1970: 1_795_000_000),
        notAfter: Timestamp(secondsSince1970: 1_796_000_000), subject: issuer.name,
        publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey), extensions: extensions ?? [])
      return try ReaderIdentity(
        key: key, certificates: [Certificate(der: leaf.signed(by: issuer.key))],
        googleWalletMetadata: GoogleWalletMetadata(GoogleWalletFixture.text))
    }
    _ = try reader(Hex.decode(GoogleWalletFixture.sha256))
    _ = try reader(nil)
    let error = #expect(throws: ReaderIdentityError.self) { try reader([UInt8](repeating: 1, count: 32)) }
    #expect(error == .googleWalletMetadataMismatch)
  }
}

extension OpenID4VPRequestTests {
  /// The fixture's reader with metadata for Google Wallet.
  private func reader(_ text: String?) throws -> ReaderIdentity {
    let reader = try fixture.reader()
    return try ReaderIdentity(
      key: reader.key, certificates: reader.certificates,
      googleWalletMetadata: text.map { try GoogleWalletMetadata($0) })
  }

  private func sent(_ jws: String) throws -> String? {
    try JSON(parsing: CompactJWS(parsing: jws.utf8).payload)["client_metadata"]?["gw_rp_metadata_bytes"]?.string
  }

  @Test func `metadata for Google Wallet are in signed requests of the browser's API only`() throws {
    let (text, other) = (GoogleWalletFixture.text, GoogleWalletFixture.other)
    let web = OpenID4VPRequest(fixture.request, challenge: fixture.challenge())
    #expect(try sent(web.signed(by: reader(text))) == text)
    #expect(try sent(web.signed(by: reader(nil))) == nil)
    #expect(web.unsigned["client_metadata"]?["gw_rp_metadata_bytes"] == nil)
    let server = OpenID4VPRequest(fixture.request, challenge: fixture.challenge(OpenID4VPFixture.server))
    #expect(try sent(server.signed(by: reader(text))) == nil)

    // All readers share one client_metadata: a reader with other metadata does not sign.
    for (texts, expected, signatures) in [
      ([nil, text], text, 2), ([text, other, nil, text], text, 3), ([other, text], other, 1), ([nil], nil, 1),
    ] as [([String?], String?, Int)] {
      let made = try web.signed(by: texts.map(reader))
      let payload = try JSON(parsing: Base64.decodeURLSafe(made["payload"]?.string ?? "") ?? [])
      #expect(payload["client_metadata"]?["gw_rp_metadata_bytes"]?.string == expected)
      #expect(made["signatures"]?.array?.count == signatures)
      #expect(payload["client_metadata"]?["vp_formats_supported"] != nil && payload["expected_origins"] != nil)
    }
  }
}
