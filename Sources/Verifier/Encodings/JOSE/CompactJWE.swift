import Base
import Compression
import Cryptography

/// A JSON Web Encryption in its compact serialization (RFC 7516, 7.1) with ECDH-ES in direct mode (RFC 7518, 4.6). No
/// other key management is supported, so there is no encrypted key to attack.
package struct CompactJWE: Sendable {
  package let header: JWEHeader
  /// The header's base64url text, which is the additional authenticated data (RFC 7516, 5.1, step 14).
  private let protectedHeader: [UInt8]
  private let initializationVector: [UInt8]
  /// Ciphertext ‖ tag.
  private let sealed: [UInt8]

  package init(parsing text: some Sequence<UInt8>) throws(JWEError) {
    let text = Array(text)
    // Splitting stops early. Otherwise a megabyte of dots would become a million parts.
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 5 else {
      throw .malformed("the JWE has \(parts.count > 5 ? "more than 5" : "\(parts.count)") parts, not 5")
    }
    var decoded: [[UInt8]] = []
    for (part, name) in zip(parts, Self.partNames) {
      guard let bytes = decodeURLSafe(part) else { throw .malformed("the JWE's \(name) is not base64url") }
      decoded.append(bytes)
    }
    // Check the algorithm before the lengths, which depend on it.
    header = try JWEHeader(parsing: decoded[0])
    for (index, length) in [(1, 0), (2, AESGCM.nonceLength), (4, AESGCM.tagLength)]
    where decoded[index].count != length {
      throw .malformed("the JWE's \(Self.partNames[index]) has \(decoded[index].count) bytes, not \(length)")
    }
    protectedHeader = Array(parts[0])
    initializationVector = decoded[2]
    sealed = decoded[3] + decoded[4]
  }

  private static let partNames = [
    "header", "encrypted key", "initialization vector", "ciphertext", "authentication tag",
  ]

  /// The plaintext, inflated if the header has `zip` (RFC 7516, 4.1.3). The tag is checked first.
  ///
  /// The same limit applies to the compressed bytes and to the content. Memory is allocated only for content within the
  /// bound.
  package func decrypt(with recipient: PrivateKey) throws(JWEError) -> [UInt8] {
    let ephemeral = try header.ephemeralKey(on: recipient.curve)
    let plaintext: [UInt8]
    do {
      let secret = try recipient.sharedSecret(with: ephemeral)
      let encryption = header.contentEncryption
      let key = try ConcatKDF.deriveKey(
        from: secret, info: Self.otherInfo(encryption, header.partyUInfo, header.partyVInfo),
        length: encryption.keyLength)
      plaintext = try AESGCM.open(sealed, key: key, nonce: initializationVector, additionalData: protectedHeader)
    } catch {
      throw .decryptionFailed
    }
    guard plaintext.count <= Limits.jwePlaintextBytes else { throw .plaintextTooLarge }
    guard header.isCompressed else { return plaintext }
    do throws(CompressionError) {
      return try Inflation.inflate(plaintext, format: .deflate, limit: Limits.jwePlaintextBytes)
    } catch {
      throw error == .tooLarge ? .plaintextTooLarge : .compressionMalformed
    }
  }

  /// Encrypts by ECDH-ES in direct mode, with a fresh ephemeral key (RFC 7516, 5.1; RFC 7518, 4.6).
  ///
  /// - Parameter parameters: more parameters of the protected header.
  /// - Returns: the compact serialization (RFC 7516, 7.1).
  /// - Throws: `CryptoError` if the key's curve is not for key agreement.
  package static func encrypt(
    _ plaintext: [UInt8], to recipient: PublicKey, by encryption: JWEHeader.ContentEncryption,
    parameters: [JSON.Member] = []
  ) throws(CryptoError) -> String {
    let ephemeral = try PrivateKey(generatingOn: recipient.curve)
    let header: [JSON.Member] = [
      .init("alg", .string(JWEHeader.algorithmName)), .init("enc", .string(encryption.rawValue)),
      .init("epk", JSONWebKey.json(of: ephemeral.publicKey)),
    ]
    let protected = Base64.encodeURLSafe(JSON.object(header + parameters).serialized())
    let key = try ConcatKDF.deriveKey(
      from: try ephemeral.sharedSecret(with: recipient), info: otherInfo(encryption), length: encryption.keyLength)
    let vector = try Random.bytes(AESGCM.nonceLength)
    let sealed = try AESGCM.seal(plaintext, key: key, nonce: vector, additionalData: Array(protected.utf8))
    let length = sealed.count - AESGCM.tagLength
    // Direct agreement has no encrypted key.
    return [
      protected, "", Base64.encodeURLSafe(vector), Base64.encodeURLSafe(sealed[..<length]),
      Base64.encodeURLSafe(sealed[length...]),
    ].joined(separator: ".")
  }

  /// OtherInfo (RFC 7518, 4.6.2): AlgorithmID ‖ PartyUInfo ‖ PartyVInfo ‖ SuppPubInfo. SuppPubInfo is the key's length
  /// in bits. In direct mode, AlgorithmID identifies the content encryption.
  static func otherInfo(
    _ encryption: JWEHeader.ContentEncryption, _ partyU: [UInt8] = [], _ partyV: [UInt8] = []
  ) -> [UInt8] {
    let fields = [Array(encryption.rawValue.utf8), partyU, partyV]
    return fields.flatMap { bigEndian($0.count) + $0 } + bigEndian(encryption.keyLength * 8)
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

/// The protected header of a compact JWE (RFC 7516, 4.1), read once and strictly, as the profile of OpenID4VP 1.0, 8.3
/// requires.
package struct JWEHeader: Sendable {
  /// Content encryption (RFC 7518, 5.3).
  package enum ContentEncryption: String, Sendable, Hashable, CaseIterable {
    case a128GCM = "A128GCM"
    case a256GCM = "A256GCM"

    package var keyLength: Int { self == .a128GCM ? 16 : 32 }
  }

  package static let algorithmName = "ECDH-ES"
  /// DEFLATE (RFC 1951), the only registered `zip` (RFC 7518, 7.3).
  private static let compressionName = "DEF"

  package let contentEncryption: ContentEncryption
  package let keyID: String?
  /// Whether the plaintext is compressed.
  let isCompressed: Bool
  /// `apu` and `apv`, decoded; empty if absent (RFC 7518, 4.6.2).
  package let partyUInfo: [UInt8]
  package let partyVInfo: [UInt8]
  /// `epk`, unchecked until the recipient's curve is known.
  let ephemeralKey: JSON?

  init(parsing bytes: [UInt8]) throws(JWEError) {
    guard let json = try? JSON(parsing: bytes), json.object != nil else {
      throw .invalidHeader("the header is not a JSON object, or has a duplicate member")
    }
    guard let algorithm = try Self.text("alg", of: json), let encryption = try Self.text("enc", of: json) else {
      throw .invalidHeader("the header has no \(json["alg"] == nil ? "alg" : "enc")")
    }
    // No extension is supported, so any critical one is refused (RFC 7516, 4.1.13).
    guard json["crit"] == nil else { throw .invalidHeader("the header has crit, but no extension is supported") }
    isCompressed = json["zip"] != nil
    guard !isCompressed || json["zip"]?.string?.hasSameBytes(as: Self.compressionName) == true else {
      throw .compressionNotAllowed(
        "zip is \(json["zip"]?.string.map { "\"\(shown($0))\"" } ?? "of another type"), not \"DEF\"")
    }
    guard algorithm.hasSameBytes(as: Self.algorithmName) else {
      throw .algorithmUnsupported("alg is \"\(shown(algorithm))\", not \"\(Self.algorithmName)\"")
    }
    guard let contentEncryption = ContentEncryption.allCases.first(where: { $0.rawValue.hasSameBytes(as: encryption) })
    else { throw .algorithmUnsupported("enc is \"\(shown(encryption))\", not \"A128GCM\" or \"A256GCM\"") }
    self.contentEncryption = contentEncryption
    keyID = try Self.text("kid", of: json)
    partyUInfo = try Self.bytes("apu", of: json)
    partyVInfo = try Self.bytes("apv", of: json)
    ephemeralKey = json["epk"]
  }

  private static func text(_ name: String, of json: JSON) throws(JWEError) -> String? {
    guard let value = json[name] else { return nil }
    guard let text = value.string else { throw .invalidHeader("\(name) is not a string") }
    return text
  }

  private static func bytes(_ name: String, of json: JSON) throws(JWEError) -> [UInt8] {
    guard let text = try text(name, of: json) else { return [] }
    guard let bytes = Base64.decodeURLSafe(text) else { throw .invalidHeader("\(name) is not base64url") }
    guard bytes.count <= Limits.partyInfoBytes else {
      throw .invalidHeader("\(name) has \(bytes.count) bytes, more than \(Limits.partyInfoBytes)")
    }
    return bytes
  }

  /// `epk`, on the recipient's curve. A private part is refused: anyone who reads it can decrypt the message.
  fileprivate func ephemeralKey(on curve: Curve) throws(JWEError) -> PublicKey {
    guard let json = ephemeralKey else { throw .ephemeralKeyInvalid("epk is missing") }
    guard json["d"] == nil else { throw .ephemeralKeyInvalid("epk has its private part, d") }
    guard let key = try? JSONWebKey(parsing: json) else {
      throw .ephemeralKeyInvalid("epk is not a JWK with a point on its curve")
    }
    guard let agreementKey = key.agreementKey else {
      throw .ephemeralKeyInvalid("epk is for another use, by its alg, use or key_ops")
    }
    guard key.key.curve == curve else {
      throw .ephemeralKeyInvalid("epk is on \(key.key.curve.rawValue), not on \(curve.rawValue)")
    }
    return agreementKey
  }
}

/// The reason why a JWE does not open, with its code and its detail.
package enum JWEError: Error, Sendable, Hashable {
  /// The bytes are not the five parts of a compact serialization, or a part is not strict base64url or has a wrong
  /// length.
  case malformed(String)
  /// The header is not a JSON object, or a parameter is a duplicate, critical, or of another type.
  case invalidHeader(String)
  /// `alg` is not ECDH-ES, or `enc` neither A128GCM nor A256GCM.
  case algorithmUnsupported(String)
  /// `zip` is not DEF.
  case compressionNotAllowed(String)
  /// `epk` is missing, has another curve than the recipient's key, or is not a point on its curve.
  case ephemeralKeyInvalid(String)
  /// The ciphertext does not authenticate.
  case decryptionFailed
  /// The plaintext is not exactly one DEFLATE stream.
  case compressionMalformed
  /// The plaintext is too large, possibly after inflating.
  case plaintextTooLarge

  /// True if the JWE opened and only its content is wrong.
  package var isOfPlaintext: Bool { self == .compressionMalformed || self == .plaintextTooLarge }

  package var detail: String {
    switch self {
    case .malformed(let detail), .invalidHeader(let detail), .algorithmUnsupported(let detail),
      .compressionNotAllowed(let detail), .ephemeralKeyInvalid(let detail):
      detail
    case .decryptionFailed:
      "the JWE does not decrypt with the key that kid names: it is damaged, or its epk, apu or apv was changed"
    case .compressionMalformed: "not one DEFLATE stream"
    case .plaintextTooLarge: "the plaintext has more than \(Limits.jwePlaintextBytes) bytes"
    }
  }

  package var code: Code {
    switch self {
    case .malformed: .envelopeMalformed
    case .invalidHeader: .jweHeaderInvalid
    case .algorithmUnsupported: .jweAlgorithmUnsupported
    case .compressionNotAllowed: .jweCompressionNotAllowed
    case .ephemeralKeyInvalid: .jweEphemeralKeyInvalid
    case .decryptionFailed: .envelopeDecryptionFailed
    case .compressionMalformed: .envelopePlaintextMalformed
    case .plaintextTooLarge: .jwePlaintextTooLarge
    }
  }
}

extension Code {
  public static let envelopeMalformed = Code(
    "envelope.malformed", "The encrypted envelope does not have the prescribed members, types or sizes",
    "Apple, Verifying Wallet identity requests: HPKEEnvelope; ISO/IEC TS 18013-7, Annex C", .wallet,
    passes: "The encrypted envelope is well-formed")
  public static let envelopeDecryptionFailed = Code(
    "envelope.decryption_failed", "The ciphertext does not decrypt with this session's keys and transcript",
    "RFC 9180, 5.2", .forged, passes: "The response decrypts with this session's keys and transcript")
  public static let envelopePlaintextMalformed = Code(
    "envelope.plaintext_malformed",
    "The decrypted content is not a map with only `identity` (in-app), or not a JSON object (JWE)",
    "Apple, Verifying Wallet identity requests: Topics", .wallet,
    passes: "The envelope holds an identity and nothing else")
  public static let jweHeaderInvalid = Code(
    "jwe.header_invalid", "The JWE's header has a malformed or an unknown critical parameter",
    "RFC 7516, 4.1", .wallet, passes: "The JWE's header is well-formed")
  public static let jweAlgorithmUnsupported = Code(
    "jwe.algorithm_unsupported", "The JWE is not encrypted by ECDH-ES with A128GCM or A256GCM",
    "\(openID), 8.3; RFC 7518, 4.6", .wallet, passes: "The JWE is encrypted by the agreed algorithms")
  public static let jweCompressionNotAllowed = Code(
    "jwe.compression_not_allowed", "The JWE's compression algorithm is not DEF", "RFC 7516, 4.1.3",
    .wallet, passes: "The JWE's compression is none or DEF")
  public static let jweEphemeralKeyInvalid = Code(
    "jwe.ephemeral_key_invalid",
    "The JWE's ephemeral key is missing, for another use, on another curve, or not a point on its curve",
    "RFC 7518, 4.6.1.1; RFC 7517, 4.2 to 4.4", .wallet, passes: "The JWE's ephemeral key is a point on the right curve")
  public static let jwePlaintextTooLarge = Code(
    "jwe.plaintext_too_large", "The JWE's plaintext inflates to more than the limit", "RFC 8725, 3.6; RFC 7516, 4.1.3",
    .wallet, passes: "The JWE's plaintext is within the limit")
}
