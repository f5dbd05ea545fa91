import Base
import CBOR
import COSE
import Cryptography
import FoundationEssentials
import Mdoc

/// The Digital Credentials API's protocol `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C). It opens an EncryptedResponse
/// and verifies the documents.
public struct AnnexC: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one response. The challenge is consumed, whatever the outcome.
  ///
  /// The device must sign: MACs need a reader key, which this protocol lacks.
  /// - Parameter otherOrigins: further origins of the relying party. If a response is for one of them, the report
  ///   explains this.
  public func authenticate(
    _ encryptedResponse: [UInt8], answering challenge: consuming AnnexCChallenge, request: PresentationRequest?,
    otherOrigins: [String] = [], at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16, clauses: [.envelopeMalformed: "ISO/IEC TS 18013-7, Annex C"])
    guard let presented = open(encryptedResponse, challenge, otherOrigins, &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(
    _ bytes: [UInt8], _ challenge: borrowing AnnexCChallenge, _ otherOrigins: [String], _ checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let encrypted = EncryptedResponse(parsing: bytes, checks: &checks) else { return nil }
    let transcript = challenge.transcript
    guard let plaintext = encrypted.open(over: transcript, key: challenge.key) else {
      let mistake = challenge.mistakes(otherOrigins: otherOrigins).difference {
        encrypted.open(over: $0, key: challenge.key) != nil
      }
      checks.failed(
        .envelopeDecryptionFailed,
        mistake.map { "it decrypts with \($0)" }
          ?? "cipherText does not decrypt with this session's key, encryptionInfo and origin")
      return nil
    }
    checks.passed(.envelopeDecryptionFailed)
    guard let response = DeviceResponse(parsing: plaintext, into: &checks) else { return nil }
    return PresentedResponse(
      parts: [.init(response)], transcript: transcript, readerKey: nil, leavesUnread: encrypted.leavesUnread)
  }

  private static let codes: [Code] = [
    .envelopeMalformed, .envelopeEncapsulatedKeyInvalid, .envelopeDecryptionFailed,
  ]
}

/// EncryptedResponse (ISO/IEC TS 18013-7, Annex C): `["dcapi", {"enc": bstr, "cipherText": bstr}]`, not yet opened.
struct EncryptedResponse {
  let encapsulatedKey: PublicKey
  let ciphertext: ArraySlice<UInt8>
  let leavesUnread: Bool

  /// Records each check. Nil if a check failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    do throws(MdocParseError) {
      let item = try CBORItem(parsing: bytes, for: Recognition.encryptedResponse)
      let reader = StructureParser(code: .envelopeMalformed)
      let parts = Array(try reader.elements(item, "the EncryptedResponse"))
      guard parts.count == 2 else {
        throw reader.fault("the EncryptedResponse", "an array of \(parts.count) elements, not 2")
      }
      guard parts[0].isText(AnnexCChallenge.label) else {
        throw reader.fault("the first element", "not the text \"\(AnnexCChallenge.label)\"")
      }
      let key = try reader.bytes("enc", of: parts[1])
      ciphertext = try reader.bytes("cipherText", of: parts[1])
      checks.passed(.envelopeMalformed)
      leavesUnread = parts[1].count != 2
      guard let point = AppleEnvelope.point(key, "enc", &checks) else { return nil }
      encapsulatedKey = point
    } catch {
      checks.append([error.explained(Recognition.mistake(bytes, for: Recognition.encryptedResponse)).check])
      return nil
    }
  }

  /// The plaintext; nil if the ciphertext is for another key, transcript or message.
  func open(over transcript: SessionTranscript, key: PrivateKey) -> [UInt8]? {
    try? HPKE.p256SHA256AES128GCM.open(
      ciphertext, encapsulatedKey: encapsulatedKey, recipient: key, info: transcript.encoded)
  }
}

/// The challenge for a response over the Digital Credentials API (ISO/IEC TS 18013-7, Annex C). It contains one
/// request's key, the `encryptionInfo` with the nonce and the key's public half, and the requesting page's origin.
///
/// A challenge cannot be copied: opening a response consumes it.
public struct AnnexCChallenge: ~Copyable, Sendable {
  let key: PrivateKey
  /// `encryptionInfo` of the request: base64url, exactly as it is sent and hashed in the transcript.
  public let encryptionInfo: String
  /// The ASCII form, `https://host[:port]`, compared by its bytes.
  public let origin: String

  static let label = "dcapi"

  /// Makes a challenge with a fresh key and nonce.
  public init(freshFor origin: String) throws(CryptoError) {
    let key = try PrivateKey(generatingOn: .p256)
    let nonce = try Random.bytes(Limits.nonceBytes)
    let info: CBORValue = [
      .text(Self.label), ["nonce": .bytes(nonce), "recipientPublicKey": COSEKey.encode(key.publicKey)],
    ]
    self.key = key
    encryptionInfo = Base64.encodeURLSafe(info.encoded())
    self.origin = origin
  }

  /// Restores a challenge from the parts that were sent.
  /// - Parameter privateScalar: the scalar of the key on P-256, 32 bytes.
  public init(privateScalar: some ContiguousBytes, encryptionInfo: String, origin: String) throws(CryptoError) {
    key = try PrivateKey(curve: .p256, scalar: privateScalar)
    self.encryptionInfo = encryptionInfo
    self.origin = origin
  }

  /// The transcript that binds the encryption. Device and reader sign it.
  public var transcript: SessionTranscript { Self.transcript(encryptionInfo: encryptionInfo, origin: origin) }

  /// The transcript of any request, including another reader's: `encryptionInfo` exactly as it was sent.
  public static func transcript(encryptionInfo: String, origin: String) -> SessionTranscript {
    transcript(encryptionInfo: .text(encryptionInfo), origin: origin)
  }

  /// `[null, null, ["dcapi", SHA-256(CBOR([encryptionInfo, origin]))]]`.
  /// - Parameter encryptionInfo: a CBOR value, so that wallets' mistakes in its encoding can be explained.
  static func transcript(encryptionInfo: CBORValue, origin: String) -> SessionTranscript {
    let info = CBORValue.array([encryptionInfo, .text(origin)]).encoded()
    return SessionTranscript(written: [nil, nil, [.text(label), .bytes(HashAlgorithm.sha256.hash(info))]])
  }

  private static let scalarLength = 32

  /// The challenge as bytes, to be encrypted at rest: the 32 bytes of the private scalar, then the rest as JSON.
  public borrowing func serialized() throws(CryptoError) -> SecretBytes {
    let json: JSON = ["encryption_info": .string(encryptionInfo), "origin": .string(origin)]
    return try SecretBytes(scalarOf: key, followedBy: json)
  }

  /// Restores a challenge from the bytes of `serialized`; nil for other bytes.
  public init?(serialized: borrowing SecretBytes) {
    guard let (key, json) = serialized.keyAndJSON(scalarAt: 0..<Self.scalarLength), let key,
      let info = json["encryption_info"]?.string, let origin = json["origin"]?.string
    else { return nil }
    self.key = key
    encryptionInfo = info
    self.origin = origin
  }
}

extension SecretBytes {
  /// Bytes of a challenge: a prefix, the private scalar, and JSON.
  init(prefix: [UInt8] = [], scalarOf key: PrivateKey, followedBy json: JSON) throws(CryptoError) {
    let rest = json.serialized()
    let scalar = try key.scalar()
    self = try SecretBytes(count: prefix.count + scalar.count + rest.count) { buffer throws(CryptoError) in
      buffer.copyBytes(from: prefix)
      scalar.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...]).copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: buffer[(prefix.count + scalar.count)...]).copyBytes(from: rest)
    }
  }

  /// The P-256 key whose scalar is at these bytes, and the JSON after it. An empty range means no key. Nil for other
  /// bytes.
  borrowing func keyAndJSON(scalarAt range: Range<Int>) -> (PrivateKey?, JSON)? {
    withUnsafeBytes { bytes in
      guard bytes.count > range.upperBound, let json = try? JSON(parsing: Array(bytes[range.upperBound...])) else {
        return nil
      }
      guard !range.isEmpty else { return (nil, json) }
      let key = try? PrivateKey(curve: .p256, scalar: UnsafeRawBufferPointer(rebasing: bytes[range]))
      return key.map { ($0, json) }
    }
  }
}

extension AnnexCChallenge {
  /// Transcripts with known mistakes of wallets. They let the report explain why a response does not decrypt. A
  /// response that decrypts with such a transcript is never read.
  func mistakes(otherOrigins: [String]) -> [AlternativeTranscript] {
    let encryptionInfo = encryptionInfo
    let origin = origin
    let origins = Self.origins(near: origin) + otherOrigins.filter { $0 != origin }.prefix(Self.triedOrigins)
    let tagged = SessionTranscript(written: .encoded(transcript.taggedBytes))
    return origins.map { other in
      AlternativeTranscript("the origin \(other)", Self.transcript(encryptionInfo: encryptionInfo, origin: other))
    } + [AlternativeTranscript("the transcript inside tag 24", tagged)]
      + Self.encryptionInfos(like: encryptionInfo).map { difference, value in
        AlternativeTranscript(difference, Self.transcript(encryptionInfo: value, origin: origin))
      }
  }

  private static let triedOrigins = 16

  /// The origin in spellings that wallets use by mistake.
  private static func origins(near origin: String) -> [String] {
    let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let host = parts.last ?? origin
    return [
      origin + "/", "web-origin:" + origin, host, origin + ":443",
      (parts.first == "http" ? "https://" : "http://") + host,
    ]
  }

  /// The encryption info in other encodings.
  private static func encryptionInfos(like text: String) -> [(difference: String, value: CBORValue)] {
    guard let bytes = Base64.decodeURLSafe(text) else { return [] }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = Base64.encode(bytes)
    let unpadded = String(standard.prefix { $0 != "=" })
    return [
      ("the encryption info padded", .text(text + padding)),
      ("the encryption info in the standard base64 alphabet", .text(standard)),
      ("the encryption info in the standard base64 alphabet, not padded", .text(unpadded)),
      ("the encryption info as bytes", .bytes(bytes)), ("the encryption info as CBOR", .encoded(bytes)),
    ]
  }
}
