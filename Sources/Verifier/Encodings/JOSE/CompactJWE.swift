import Base
import Compression
import Cryptography

/// A JSON Web Encryption in its compact serialization (RFC 7516, 7.1), encrypted directly to a key that is agreed by
/// ECDH-ES (RFC 7518, 4.6).
///
/// There is no other key management here: there is no encrypted key that could be attacked.
package struct CompactJWE: Sendable {
  package let header: JWEHeader
  /// The base64url text of the header: the additional authenticated data (RFC 7516, 5.1, step 14).
  private let protectedHeader: [UInt8]
  private let initializationVector: [UInt8]
  /// Ciphertext ‖ tag.
  private let sealed: [UInt8]

  package init(parsing text: some Sequence<UInt8>) throws(JWEError) {
    let text = Array(text)
    // Splitting stops at one part too many: a megabyte of dots would otherwise become as many parts.
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 5 else {
      throw .malformed("the JWE has \(parts.count > 5 ? "more than 5" : "\(parts.count)") parts, not 5")
    }
    var decoded: [[UInt8]] = []
    for (part, name) in zip(parts, Self.partNames) {
      guard let bytes = Self.decode(part) else { throw .malformed("the JWE's \(name) is not base64url") }
      decoded.append(bytes)
    }
    // The algorithm is checked first: with another algorithm these lengths might be right.
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

  /// The plaintext, inflated if the header says `zip` (RFC 7516, 4.1.3). Nothing is inflated or returned before the tag
  /// was checked.
  ///
  /// Inflating takes time by the length of the compressed bytes and by that of their content. Both have the same bound,
  /// and memory is taken only for content within it.
  ///
  /// - Throws: `JWEError`, which says why there is none.
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

  /// OtherInfo of RFC 7518, 4.6.2: AlgorithmID ‖ PartyUInfo ‖ PartyVInfo ‖ SuppPubInfo, the key's length in bits. With
  /// direct agreement the algorithm is that of the content.
  static func otherInfo(
    _ encryption: JWEHeader.ContentEncryption, _ partyU: [UInt8] = [], _ partyV: [UInt8] = []
  ) -> [UInt8] {
    let fields = [Array(encryption.rawValue.utf8), partyU, partyV]
    return fields.flatMap { bigEndian($0.count) + $0 } + bigEndian(encryption.keyLength * 8)
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
    // A byte outside ASCII becomes a character that is in no alphabet.
    Base64.decodeURLSafe(String(decoding: part, as: UTF8.self))
  }
}

/// The protected header of a compact JWE (RFC 7516, 4.1), read once and strictly, by the profile of OpenID4VP 1.0, 8.3.
package struct JWEHeader: Sendable {
  /// Content encryption (RFC 7518, 5.3).
  package enum ContentEncryption: String, Sendable, Hashable, CaseIterable {
    case a128GCM = "A128GCM"
    case a256GCM = "A256GCM"

    package var keyLength: Int { self == .a128GCM ? 16 : 32 }
  }

  package static let algorithmName = "ECDH-ES"
  /// DEFLATE (RFC 1951), the only `zip` that there is (RFC 7518, 7.3).
  private static let compressionName = "DEF"

  package let contentEncryption: ContentEncryption
  package let keyID: String?
  /// Whether the plaintext is compressed.
  let isCompressed: Bool
  /// `apu` and `apv`, decoded; empty if absent (RFC 7518, 4.6.2).
  package let partyUInfo: [UInt8]
  package let partyVInfo: [UInt8]
  /// `epk`, to be checked when the recipient's curve is known.
  let ephemeralKey: JSON?

  init(parsing bytes: [UInt8]) throws(JWEError) {
    guard let json = try? JSON(parsing: bytes), json.object != nil else {
      throw .invalidHeader("the header is not a JSON object, or has a member twice")
    }
    guard let algorithm = try Self.text("alg", of: json), let encryption = try Self.text("enc", of: json) else {
      throw .invalidHeader("the header has no \(json["alg"] == nil ? "alg" : "enc")")
    }
    // No extension is understood here, so any critical one is refused (RFC 7516, 4.1.13).
    guard json["crit"] == nil else { throw .invalidHeader("the header has crit, and no extension is known here") }
    isCompressed = json["zip"] != nil
    guard !isCompressed || json["zip"]?.string?.hasSameBytes(as: Self.compressionName) == true else {
      throw .compressionNotAllowed(
        "zip is \(json["zip"]?.string.map { "\"\(shown($0))\"" } ?? "no string"), not \"DEF\"")
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
    guard let text = value.string else { throw .invalidHeader("\(name) is no string") }
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

  /// `epk`, on the recipient's curve. One with a private part is refused too, because everyone who reads it could decrypt
  /// the message.
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

/// Why a JWE is not opened. Each fault has the code and the detail that the report shows.
package enum JWEError: Error, Sendable, Hashable {
  /// Not the five parts of a compact serialization, one of them not strict base64url or of a wrong length.
  case malformed(String)
  /// The header is no JSON object, names a parameter twice, has one of another type, or one that is critical.
  case invalidHeader(String)
  /// `alg` is not ECDH-ES, or `enc` neither A128GCM nor A256GCM.
  case algorithmUnsupported(String)
  /// `zip` is not DEF.
  case compressionNotAllowed(String)
  /// `epk` is missing, on another curve than the recipient's key, or no point of its curve.
  case ephemeralKeyInvalid(String)
  /// The ciphertext does not authenticate.
  case decryptionFailed
  /// The plaintext is not exactly one DEFLATE stream.
  case compressionMalformed
  /// More comes out of the plaintext than an answer may have.
  case plaintextTooLarge

  /// Whether the JWE opened, and only its content is at fault.
  package var isOfPlaintext: Bool { self == .compressionMalformed || self == .plaintextTooLarge }

  package var detail: String {
    switch self {
    case .malformed(let detail), .invalidHeader(let detail), .algorithmUnsupported(let detail),
      .compressionNotAllowed(let detail), .ephemeralKeyInvalid(let detail):
      detail
    case .decryptionFailed: "the JWE does not open with the key of kid: it is damaged, or epk, apu or apv are not its"
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
