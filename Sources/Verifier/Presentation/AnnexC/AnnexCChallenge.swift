import Base
import CBOR
import COSE
import Cryptography
import FoundationEssentials
import Mdoc

/// What an answer over the Digital Credentials API (ISO/IEC TS 18013-7, Annex C) must answer: a key of one request, the
/// `encryptionInfo` that holds it with the nonce, and the origin of the page that asks.
///
/// It can't be copied: who opens an answer with it has used it up.
public struct AnnexCChallenge: ~Copyable, Sendable {
  let key: PrivateKey
  /// `encryptionInfo` of the request: base64url, exactly as it is sent, which is what the transcript hashes.
  public let encryptionInfo: String
  /// An origin in its ASCII form, `https://host[:port]`: compared by its bytes alone.
  public let origin: String

  static let label = "dcapi"

  /// A challenge with a fresh key and nonce.
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

  /// A challenge that was kept: its parts as they were given away.
  ///
  /// - Parameter privateScalar: of the key on P-256, 32 bytes.
  public init(privateScalar: some ContiguousBytes, encryptionInfo: String, origin: String) throws(CryptoError) {
    key = try PrivateKey(curve: .p256, scalar: privateScalar)
    self.encryptionInfo = encryptionInfo
    self.origin = origin
  }

  /// The private key, for sealing it at rest.
  public borrowing func privateScalar() throws(CryptoError) -> SecretBytes { try key.scalar() }

  /// What the answer is encrypted under and what device and reader sign.
  public var transcript: SessionTranscript {
    Self.transcript(encryptionInfo: .text(encryptionInfo), origin: origin)
  }

  /// The same of a request that is not ours to answer: `encryptionInfo` exactly as it was sent.
  public static func transcript(encryptionInfo: String, origin: String) -> SessionTranscript {
    transcript(encryptionInfo: .text(encryptionInfo), origin: origin)
  }

  /// `[null, null, ["dcapi", SHA-256(CBOR([encryptionInfo, origin]))]]`.
  ///
  /// - Parameter encryptionInfo: a value, so that mistakes of wallets can be explained.
  static func transcript(encryptionInfo: CBORValue, origin: String) -> SessionTranscript {
    let info = CBORValue.array([encryptionInfo, .text(origin)]).encoded()
    return SessionTranscript(written: [nil, nil, [.text(label), .bytes(HashAlgorithm.sha256.hash(info))]])
  }
}

extension AnnexCChallenge {
  /// Transcripts that wallets are known to make by mistake, to explain in the report why an answer does not open.
  /// Nothing is ever read of an answer that opens with one.
  ///
  /// - Parameter otherOrigins: further origins of the relying party.
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

  /// The same origin in other words.
  private static func origins(near origin: String) -> [String] {
    let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let host = parts.last ?? origin
    return [
      origin + "/", "web-origin:" + origin, host, origin + ":443",
      (parts.first == "http" ? "https://" : "http://") + host,
    ]
  }

  /// The encryption info in other encodings than the one that was sent.
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
