import Base
import CBOR
import Cryptography
import Mdoc

/// The HPKEEnvelope of Apple's in-app requests (Apple, Verifying Wallet identity requests), checked in its own right
/// and not yet opened.
struct AppleEnvelope {
  let encapsulatedKey: PublicKey
  let recipientKeyHash: ArraySlice<UInt8>
  let transcriptHash: ArraySlice<UInt8>
  let ciphertext: ArraySlice<UInt8>
  let leavesUnread: Bool

  static let algorithm = "APPLE-HPKE-v1"
  private static let hashLength = 32

  /// Notes each check; nil if one failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    do throws(MdocParseError) {
      let item = try CBORItem(parsing: bytes, for: Recognition.appleEnvelope)
      let reader = StructureParser(code: .envelopeMalformed)
      try reader.expect(Recognition.appleEnvelope, item)
      let algorithm = try reader.text("algorithm", of: item)
      let parameters = try reader.member("params", of: item)
      _ = try reader.entries(parameters, "params")
      let mode = try reader.unsigned("mode", of: parameters)
      let key = try reader.bytes("pkEm", of: parameters)
      recipientKeyHash = try reader.bytes("pkRHash", of: parameters, count: Self.hashLength)
      transcriptHash = try reader.bytes("infoHash", of: parameters, count: Self.hashLength)
      ciphertext = try reader.bytes("data", of: item)
      checks.passed(.envelopeMalformed)
      leavesUnread = item.count != 3 || parameters.count != 4
      checks.require(
        algorithm.hasSameBytes(as: Self.algorithm), .envelopeAlgorithmUnsupported,
        "algorithm is \"\(shown(algorithm))\", not \"\(Self.algorithm)\"")
      checks.require(mode == 0, .envelopeModeUnsupported, "mode is \(mode), not 0")
      guard let point = Self.point(key, "pkEm", &checks), !checks.hasFailed else { return nil }
      encapsulatedKey = point
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  /// The sender's ephemeral key of HPKE; nil, with the fault noted, for anything but a point on P-256.
  static func point(_ encoded: ArraySlice<UInt8>, _ name: String, _ checks: inout CheckList) -> PublicKey? {
    let point = try? PublicKey(curve: .p256, encoded: encoded)
    checks.require(
      point != nil, .envelopeEncapsulatedKeyInvalid,
      encoded.count == 65
        ? "\(name) is not an uncompressed point on P-256" + (encoded.first == 4 ? "" : ": its first byte is not 0x04")
        : "the length of \(name) is \(encoded.count), not the 65 bytes of an uncompressed point on P-256")
    return point
  }

  /// Whether the envelope says that it was sealed over this transcript.
  func isOver(_ transcript: SessionTranscript) -> Bool {
    HashAlgorithm.sha256.matches(transcriptHash, digestOf: transcript.encoded)
  }
}

/// The secret that opens one Apple envelope and no other: the shared secret of its key encapsulation (RFC 9180, 4.1). A
/// kept answer is stored with this, and never with the merchant's key.
public final class AppleOpening: Sendable {
  let recipientKeyHash: [UInt8]
  let sharedSecret: SecretBytes

  private static let hashLength = 32

  /// Nil if none of the keys is the one that the envelope names.
  public init?(of envelope: [UInt8], keys: [PrivateKey]) {
    var checks = CheckList(expecting: 8)
    guard let envelope = AppleEnvelope(parsing: envelope, checks: &checks),
      let key = keys.first(where: {
        $0.curve == .p256 && envelope.recipientKeyHash.elementsEqual(AppleInApp.recipientKeyHash($0.publicKey))
      }),
      let secret = try? HPKE.p256SHA256AES128GCM.sharedSecret(of: envelope.encapsulatedKey, recipient: key)
    else { return nil }
    recipientKeyHash = Array(envelope.recipientKeyHash)
    sharedSecret = secret
  }

  // MARK: Keeping

  /// Restores what `serialized` gave; nil for anything else.
  public init?(serialized: borrowing SecretBytes) {
    guard serialized.count > Self.hashLength else { return nil }
    recipientKeyHash = serialized.withUnsafeBytes { Array($0.prefix(Self.hashLength)) }
    sharedSecret = serialized.withUnsafeBytes { SecretBytes(copying: $0[Self.hashLength...]) }
  }

  public var serialized: SecretBytes {
    SecretBytes(copying: recipientKeyHash + sharedSecret.exposed())
  }
}

/// The values of an in-app session, byte for byte, for comparison with Apple's sample files: its transcript and hashes,
/// and for an answer the inputs of its signatures. They verify nothing.
public struct AppleInspection: Sendable {
  public let transcript: SessionTranscript
  /// SHA-256 of the transcript.
  public let infoHash: [UInt8]
  /// SHA-256 of the recipient's uncompressed point.
  public let recipientKeyHash: [UInt8]
  private let recipient: RecipientKeyHashes
  private let nonce: [UInt8]
  private let merchant: AppleMerchant

  public init(of challenge: borrowing AppleChallenge, recipient key: PublicKey) {
    recipient = RecipientKeyHashes(of: key)
    recipientKeyHash = recipient.point
    transcript = challenge.transcript(recipientKeyHash: recipient.point)
    infoHash = HashAlgorithm.sha256.hash(transcript.encoded)
    nonce = challenge.nonce
    merchant = challenge.merchant
  }

  /// Why nothing more can be read out of an envelope.
  public struct Problem: Error, Sendable, Hashable {
    public let code: Code
    public let detail: String?
  }

  /// The signature inputs of each document, for an answer of this session.
  public func signatureInputs(of envelope: [UInt8], key: PrivateKey) throws(Problem) -> [SignatureInputs] {
    var checks = CheckList()
    guard let envelope = AppleEnvelope(parsing: envelope, checks: &checks) else { throw Problem(checks) }
    guard envelope.recipientKeyHash.elementsEqual(recipientKeyHash) else {
      let isInfo = envelope.recipientKeyHash.elementsEqual(recipient.keyInfo ?? [])
      throw Problem(
        code: .envelopeRecipientKeyUnknown,
        detail: isInfo ? "it names the hash of the key's SubjectPublicKeyInfo" : nil)
    }
    guard envelope.transcriptHash.elementsEqual(infoHash) else {
      let mistake = AppleChallenge.mistakes(nonce: nonce, own: merchant, recipient: recipient, others: [])
        .difference(where: envelope.isOver)
      throw Problem(code: .envelopeTranscriptMismatch, detail: mistake.map { "it answers \($0)" })
    }
    let plaintext = try? HPKE.p256SHA256AES128GCM.open(
      envelope.ciphertext, encapsulatedKey: envelope.encapsulatedKey, recipient: key, info: transcript.encoded)
    guard let plaintext else { throw Problem(code: .envelopeDecryptionFailed, detail: nil) }
    guard let identity = AppleInApp.identity(in: plaintext, checks: &checks) else { throw Problem(checks) }
    do throws(MdocParseError) {
      return try DeviceResponse(parsing: identity).signatureInputs(over: transcript)
    } catch {
      throw Problem(code: error.code, detail: error.detail)
    }
  }
}

extension AppleInspection.Problem {
  /// The problem of the first check that failed.
  fileprivate init(_ checks: CheckList) {
    let failed = checks.checks.first { $0.outcome == .failed }
    self.init(code: failed?.code ?? .envelopeMalformed, detail: failed?.detail)
  }
}
