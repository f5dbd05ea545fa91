import Base
import CBOR
import Cryptography
import Mdoc

/// What an in-app session comes to, byte for byte, for comparison with Apple's sample files: its transcript and hashes,
/// and of an answer what its signatures are made over. Nothing is verified by it.
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

  /// Why an envelope tells no more.
  public struct Problem: Error, Sendable, Hashable {
    public let code: Code
    public let detail: String?
  }

  /// Of each document of an answer that is this session's.
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
      let mistake = AppleMistake.behind(
        envelope.transcriptHash, nonce: nonce, own: merchant, recipient: recipient, others: [])
      throw Problem(code: .envelopeTranscriptMismatch, detail: mistake.map { "it answers \($0)" })
    }
    let plaintext = try? HPKE.p256SHA256AES128GCM.open(
      envelope.ciphertext, encapsulatedKey: envelope.encapsulatedKey, recipient: key, info: transcript.encoded)
    guard let plaintext else { throw Problem(code: .envelopeDecryptionFailed, detail: nil) }
    guard let identity = AppleInApp.identity(in: plaintext, checks: &checks) else { throw Problem(checks) }
    do throws(MdocParseError) {
      return try DeviceResponse(parsing: identity).signatureInputs(over: transcript)
    } catch {
      throw Problem(code: error.code, detail: nil)
    }
  }
}

extension AppleInspection.Problem {
  /// Of the check that failed.
  fileprivate init(_ checks: CheckList) {
    let failed = checks.checks.first { $0.outcome == .failed }
    self.init(code: failed?.code ?? .envelopeMalformed, detail: failed?.detail)
  }
}
