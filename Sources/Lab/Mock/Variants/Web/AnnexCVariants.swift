import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Wrong answers of the Digital Credentials API's `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C). The transcript is the
  /// HPKE info, so an answer for another session cannot be decrypted.
  @MockVariantList static var annexC: [MockVariant] {
    for fault in OriginFault.allCases {
      session("origin-\(fault.rawValue)", "The wallet answered \(fault.summary).", "D01") {
        $0.origin = fault.applied(to: $0.origin)
      }
    }
    MockVariant(
      "annex-c-relayed", "An answer to another origin was opened there and encrypted anew for this one.",
      cases: "D01", codes: [.deviceSignatureInvalid], applicability: .annexC,
      .annexC {
        $0.otherInfo = $0.transcript
        $0.origin = OriginFault.host.applied(to: $0.origin)
      })
    encryptionInfo("altered", "A bit of the nonce in EncryptionInfo was turned over before it was hashed.") { bytes in
      // Byte 20 is inside the nonce, which follows the first key of the map.
      var copy = bytes
      if copy.count > 24 { copy[20] ^= 0x01 }
      return Base64.encodeURLSafe(copy)
    }
    encryptionInfo("re-encoded", "EncryptionInfo was encoded anew, in long form, before it was hashed.") { bytes in
      Base64.encodeURLSafe([0x98, 0x02] + bytes.dropFirst())
    }
    encryptionInfo("standard-alphabet", "The text of EncryptionInfo was made base64 with padding before it was hashed.")
    {
      Base64.encode($0)
    }
    session("info-tagged", "The HPKE info is the transcript inside tag 24.", "") {
      $0.otherInfo = CBORValue.tagged(24, .bytes($0.transcript)).encoded()
    }
    session("other-key", "The answer is encrypted to the key of another session.", "D07 S06") {
      $0.recipientKey = try MockSeed(Array($0.encryptionInfo.utf8)).key("another session", on: .p256).publicKey
    }
    response("tag-other", "The first element is not \"dcapi\".", "D04", .envelopeMalformed) { $0.name = "dc_api" }
    response("tag-bytes", "The first element is a byte string.", "D04", .envelopeMalformed) {
      $0.name = .bytes(Array("dcapi".utf8))
    }
    response("three-elements", "The array has a third element.", "D04", .envelopeMalformed) { $0.further = [.null] }
    response("enc-absent", "The encapsulated key is missing.", "D04", .envelopeMalformed) { $0.fields["enc"] = nil }
    response("cipher-text-absent", "The ciphertext is missing.", "D04", .envelopeMalformed) {
      $0.fields["cipherText"] = nil
    }
    response("cipher-text-text", "The ciphertext is a text string.", "", .envelopeMalformed) {
      $0.fields["cipherText"] = .text(Base64.encodeURLSafe($0.fields.bytes("cipherText")))
    }
    encapsulatedKey("enc-64-bytes", "The encapsulated key lacks its first byte.") { key, _ in Array(key.dropFirst()) }
    encapsulatedKey("enc-off-curve", "The encapsulated key is not on the curve.") { key, _ in key.flippedAtEnd }
    encapsulatedKey("enc-compressed", "The encapsulated key is a compressed point.") { key, _ in
      [(key.last ?? 0) & 1 == 1 ? 0x03 : 0x02] + key[1..<33]
    }
    encapsulatedKey("enc-infinity", "The encapsulated key is the point at infinity.") { _, _ in [0x00] }
    encapsulatedKey("enc-p384", "The encapsulated key is of the suite with P-384.", cases: "D06") { _, seed in
      try seed.key("annex-c p384", on: .p384).publicKey.encoded
    }
    encapsulatedKey("enc-x-wing", "The encapsulated key is of the suite with X-Wing.", cases: "D06") { _, seed in
      try seed.bytes("annex-c x-wing", count: 1_120)
    }
    response("cipher-text-flipped", "A bit of the ciphertext is turned over.", "", .envelopeDecryptionFailed) {
      $0.fields["cipherText"] = .bytes($0.fields.bytes("cipherText").flipped)
    }
    response("cipher-text-short", "The ciphertext is shorter than its tag.", "", .envelopeDecryptionFailed) {
      $0.fields["cipherText"] = .bytes(Array($0.fields.bytes("cipherText").prefix(15)))
    }
    MockVariant(
      "annex-c-plaintext-identity", "The plaintext is wrapped as Apple's in-app answers are.",
      codes: [.responseMalformed], applicability: .annexC,
      .annexC { $0.wrap = { CBORValue.map([("identity", .encoded($0))]).encoded() } })
    bytes("trailing-bytes", "A byte follows the EncryptedResponse.", "C03", .cborTrailingBytes) { $0.append(0x00) }
    bytes("truncated", "The EncryptedResponse's last byte is missing.", "C05", .cborTruncated) { $0.removeLast() }
    response("duplicate-key", "The EncryptedResponse has `enc` twice.", "C04", .cborDuplicateKey) {
      $0.fields.duplicate("enc")
    }
  }

  private static func session(
    _ name: String, _ summary: String, _ cases: String, _ change: @escaping MockChange<AnnexCDraft>
  ) -> MockVariant {
    MockVariant(
      "annex-c-\(name)", summary, cases: cases, codes: [.envelopeDecryptionFailed], applicability: .annexC,
      .annexC(change))
  }

  private static func encryptionInfo(
    _ name: String, _ summary: String, _ change: @escaping @Sendable ([UInt8]) -> String
  ) -> MockVariant {
    session("encryption-info-\(name)", summary, "D03") {
      $0.encryptionInfo = change(Base64.decodeURLSafe($0.encryptionInfo) ?? [])
    }
  }

  private static func response(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<EncryptedResponseDraft>
  ) -> MockVariant {
    MockVariant(
      "annex-c-\(name)", summary, cases: cases, codes: [code], applicability: .annexC, .encryptedResponse(change))
  }

  private static func encapsulatedKey(
    _ name: String, _ summary: String, cases: String = "D05",
    _ change: @escaping @Sendable ([UInt8], MockSeed) throws -> [UInt8]
  ) -> MockVariant {
    response(name, summary, cases, .envelopeEncapsulatedKeyInvalid) {
      $0.fields["enc"] = .bytes(try change($0.fields.bytes("enc"), $0.seed))
    }
  }

  private static func bytes(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<[UInt8]>
  ) -> MockVariant {
    MockVariant(
      "annex-c-\(name)", summary, cases: cases, codes: [code], applicability: .annexC,
      .encryptedResponseBytes(change))
  }
}
