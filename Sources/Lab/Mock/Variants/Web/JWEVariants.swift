import Base
import Compression
import Cryptography

extension MockVariant {
  /// Wrong encryption of OpenID4VP's answers (OpenID4VP 1.0, 8.3; RFC 7516).
  @MockVariantList static var jwe: [MockVariant] {
    for (name, algorithm) in [
      ("rsa-oaep", "RSA-OAEP"), ("dir", "dir"), ("none", "none"), ("ecdh-a128kw", "ECDH-ES+A128KW"),
    ] {
      header("alg-\(name)", "The header says \(algorithm).", "D08", .jweAlgorithmUnsupported) {
        $0["alg"] = .string(algorithm)
      }
    }
    MockVariant(
      "jwe-enc-a128cbc", "The header says A128CBC-HS256, and the tag has 8 bytes.", cases: "D08",
      codes: [.jweAlgorithmUnsupported], applicability: .openID4VPEncrypted,
      .init(jwe: { $0["enc"] = "A128CBC-HS256" }, jweParts: { $0.changeBytes(at: 4) { Array($0.prefix(8)) } }))
    header("kid-unknown", "The header names a key that this session has not.", "D09", .jweKeyUnknown) {
      $0["kid"] = "another-key"
    }
    header("kid-absent", "The header names no key.", "D09", .jweKeyUnknown) { $0["kid"] = nil }
    ephemeralKey("off-curve", "The ephemeral key is not on its curve.") { key in
      key.replacing("y") { Base64.encodeURLSafe((Base64.decodeURLSafe($0) ?? []).flippedAtEnd) }
    }
    ephemeralKey("zero", "The ephemeral key's coordinates are zero.") { key in
      key.replacing("x") { _ in Base64.encodeURLSafe([UInt8].zeros(32)) }
        .replacing("y") { _ in Base64.encodeURLSafe([UInt8].zeros(32)) }
    }
    header("epk-p384", "The ephemeral key is on P-384.", "D09", .jweEphemeralKeyInvalid) {
      $0["epk"] = MockJWK.json(of: try $0.seed.key("jwe p384", on: .p384).publicKey)
    }
    header("epk-absent", "There is no ephemeral key.", "D09", .jweEphemeralKeyInvalid) { $0["epk"] = nil }
    header("zip-bomb", "The plaintext is four megabytes, compressed to some kilobytes.", "D10", .jwePlaintextTooLarge) {
      $0.payload += [UInt8](repeating: UInt8(ascii: " "), count: 4 << 20)
      try $0.compress()
    }
    zip("truncated", "The compressed plaintext lacks its last byte.") { $0.payload.removeLast() }
    zip("trailing", "A byte follows the compressed plaintext.") { $0.payload.append(0) }
    zip("twice", "The plaintext is compressed twice.") { try $0.compress() }
    header("zip-not-compressed", "The header says DEF, and the plaintext is not compressed.", "D10", malformed) {
      $0["zip"] = "DEF"
    }
    header("zip-zlib", "The compressed plaintext has zlib's header and checksum.", "D10", malformed) {
      $0["zip"] = "DEF"
      $0.payload = try Deflation.deflate($0.payload)
    }
    header("zip-unknown", "The plaintext is compressed by an unknown algorithm.", "D10", .jweCompressionNotAllowed) {
      $0["zip"] = "GZIP"
    }
    header("crit", "An unknown parameter of the header is critical.", "", .jweHeaderInvalid) {
      $0["crit"] = ["exp"]
      $0["exp"] = 0
    }
    header("alg-absent", "The header names no algorithm.", "", .jweHeaderInvalid) { $0["alg"] = nil }
    header("alg-twice", "The header names its algorithm twice.", "", .jweHeaderInvalid) {
      $0.header.append(JSON.Member("alg", "ECDH-ES"))
    }
    header("header-array", "The header is a JSON array.", "", .jweHeaderInvalid) { $0.otherHeader = Array("[]".utf8) }
    header("other-key", "The answer is encrypted to the key of another session.", "D07", .envelopeDecryptionFailed) {
      $0.recipientKey = try $0.seed.key("another session", on: .p256).publicKey
    }
    header("plaintext-array", "The plaintext is a JSON array.", "", .envelopePlaintextMalformed) {
      $0.payload = Array("[]".utf8)
    }
    header("plaintext-not-json", "The plaintext is the DeviceResponse's base64url.", "", .envelopePlaintextMalformed) {
      $0.payload = Array(Base64.encodeURLSafe($0.payload).utf8)
    }
    parts("four-parts", "The JWE lacks its tag.", .envelopeMalformed) { $0.removeLast() }
    parts("encrypted-key", "There is an encrypted key, though the key is agreed directly.", .envelopeMalformed) {
      $0.changeBytes(at: 1) { _ in .zeros(24) }
    }
    parts("vector-16-bytes", "The initialization vector has 16 bytes.", .envelopeMalformed) {
      $0.changeBytes(at: 2) { $0 + .zeros(4) }
    }
    parts("tag-short", "The tag has 8 bytes.", .envelopeMalformed) { $0.changeBytes(at: 4) { Array($0.prefix(8)) } }
    parts("part-padded", "A part of the JWE is padded.", .envelopeMalformed, cases: "D20") {
      if $0.indices.contains(2) { $0[2] += "=" }
    }
    parts("ciphertext-flipped", "A bit of the ciphertext is turned over.", .envelopeDecryptionFailed) {
      $0.changeBytes(at: 3) { $0.flipped }
    }
    parts("tag-flipped", "A bit of the tag is turned over.", .envelopeDecryptionFailed) {
      $0.changeBytes(at: 4) { $0.flipped }
    }
    parts("header-changed", "A parameter was added to the header after it was encrypted.", .envelopeDecryptionFailed) {
      $0.changeBytes(at: 0) { Array($0.dropLast()) + Array(",\"cty\":\"json\"}".utf8) }
    }
    MockVariant(
      "openid4vp-not-encrypted", "The answer comes in clear, where an encrypted one was asked for.",
      codes: [.envelopeNotEncrypted], applicability: .openID4VPEncrypted, .webData { $0.members = $0.clear })
    unsecured(
      "encrypted", "The answer comes in an unsecured JWT, where an encrypted one was asked for.", .envelopeNotEncrypted,
      .openID4VPEncrypted)
    unsecured(
      "clear", "The answer comes in an unsecured JWT, where its parameters were asked for.", .responseModeMismatch,
      .openID4VPClear)
  }

  /// Right answers that are unusual.
  @MockVariantList static var openID4VPControls: [MockVariant] {
    MockVariant(
      "openid4vp-a256gcm", "The content is encrypted by A256GCM.", applicability: .openID4VPEncrypted,
      .jwe { $0["enc"] = "A256GCM" })
    MockVariant(
      "openid4vp-zip", "The plaintext is compressed, as some wallets do where it holds a proof.", cases: "D10",
      applicability: .openID4VPEncrypted, .jwe { try $0.compress() })
    MockVariant(
      "openid4vp-party-info", "The JWE has `apu` and `apv`.", applicability: .openID4VPEncrypted,
      .jwe {
        $0["apu"] = .string(Base64.encodeURLSafe(Array("wallet".utf8)))
        $0["apv"] = .string(Base64.encodeURLSafe(Array("verifier".utf8)))
      })
    MockVariant(
      "openid4vp-unknown-parameter", "The answer has a parameter that no standard names.", applicability: .openID4VP,
      .authorizationResponse { $0.further.append(JSON.Member("org.example.future", "1")) })
  }

  private static func header(
    _ name: String, _ summary: String, _ cases: String, _ code: Code, _ change: @escaping MockChange<JWEDraft>
  ) -> MockVariant {
    MockVariant(
      "jwe-\(name)", summary, cases: cases, codes: [code], applicability: .openID4VPEncrypted, .jwe(change))
  }

  private static let malformed = Code.envelopePlaintextMalformed

  /// - Parameter change: changes the compressed plaintext.
  private static func zip(_ name: String, _ summary: String, _ change: @escaping MockChange<JWEDraft>) -> MockVariant {
    header("zip-\(name)", summary, "D10", malformed) {
      try $0.compress()
      try change(&$0)
    }
  }

  /// An unsecured JWT (RFC 7519, 6) of the clear parameters, as some wallets post it for `direct_post`.
  private static func unsecured(
    _ name: String, _ summary: String, _ code: Code, _ applicability: MockVariant.Applicability
  ) -> MockVariant {
    MockVariant(
      "openid4vp-unsecured-jwt-\(name)", summary, codes: [code], applicability: applicability,
      .webData { data in
        let parts = [["alg": "none"], JSON.object(data.clear)].map { Base64.encodeURLSafe($0.serialized()) }
        data.members = [.init("response", .string(parts.joined(separator: ".") + "."))]
      })
  }

  private static func ephemeralKey(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (JSON) -> JSON
  ) -> MockVariant {
    header("epk-\(name)", summary, "D09", .jweEphemeralKeyInvalid) { $0["epk"] = $0["epk"].map(change) }
  }

  private static func parts(
    _ name: String, _ summary: String, _ code: Code, cases: String = "",
    _ change: @escaping MockChange<[String]>
  ) -> MockVariant {
    MockVariant(
      "jwe-\(name)", summary, cases: cases, codes: [code], applicability: .openID4VPEncrypted, .jweParts(change))
  }
}

extension JWEDraft {
  /// `zip: DEF` is a raw DEFLATE stream (RFC 7516, 4.1.3): zlib's stream without its header and checksum.
  mutating func compress() throws {
    self["zip"] = "DEF"
    payload = Array(try Deflation.deflate(payload).dropFirst(2).dropLast(4))
  }
}

extension [String] {
  /// Changes the bytes of a part of a compact serialization.
  fileprivate mutating func changeBytes(at index: Int, _ change: ([UInt8]) -> [UInt8]) {
    if indices.contains(index) { self[index] = Base64.encodeURLSafe(change(Base64.decodeURLSafe(self[index]) ?? [])) }
  }
}

extension JSON {
  /// The same object with the text under this name changed.
  fileprivate func replacing(_ name: String, _ change: (String) -> String) -> JSON {
    .object(
      (object ?? []).map { member in
        member.name == name ? Member(name, .string(change(member.value.string ?? ""))) : member
      })
  }
}
