import Base
import CBOR
import Cryptography
import Mdoc
import PKIX

/// The challenge for an Apple in-app response: the nonce, with its merchant and team.
///
/// A challenge cannot be copied: opening a response consumes it.
public struct AppleChallenge: ~Copyable, Sendable {
  public let nonce: [UInt8]
  public let merchant: AppleMerchant

  public var merchantID: String { merchant.merchantID }
  public var teamID: String { merchant.teamID }

  /// - Parameter nonce: the bytes given to `PKIdentityRequest.nonce`, 16 to 64 of them.
  public init(nonce: [UInt8], merchantID: String, teamID: String) throws(AppleChallengeError) {
    guard (Limits.shortestNonceBytes...Limits.appleNonceBytes).contains(nonce.count) else { throw .nonceLength }
    self.init(nonce: nonce, of: AppleMerchant(merchantID: merchantID, teamID: teamID))
  }

  /// Makes a challenge with a fresh nonce.
  public init(freshFor merchant: AppleMerchant) throws(CryptoError) {
    self.init(nonce: try Random.bytes(Limits.nonceBytes), of: merchant)
  }

  init(nonce: [UInt8], of merchant: AppleMerchant) {
    self.nonce = nonce
    self.merchant = merchant
  }

  /// - Parameter teamID: the simulator's team instead of the app's.
  borrowing func transcript(recipientKeyHash: [UInt8], teamID: String? = nil) -> SessionTranscript {
    Self.transcript(
      nonce: nonce, merchant: AppleMerchant(merchantID: merchantID, teamID: teamID ?? self.teamID),
      recipientKeyHash: recipientKeyHash)
  }

  /// `[null, null, ["AppleIdentityPresentment_1.0", nonce, merchant, team, SHA-256(recipient point)]]`.
  private static func transcript(
    nonce: [UInt8], merchant: AppleMerchant, recipientKeyHash: [UInt8]
  ) -> SessionTranscript {
    let handover: CBORValue = [
      "AppleIdentityPresentment_1.0", .bytes(nonce), .text(merchant.merchantID), .text(merchant.teamID),
      .bytes(recipientKeyHash),
    ]
    return SessionTranscript(written: [nil, nil, handover])
  }

  /// Transcripts with known mistakes of apps and servers. They let the report explain why a response is not for this
  /// session. A response that fits such a transcript is never read.
  borrowing func mistakes(recipient: RecipientKey, others: [AppleMerchant]) -> [AlternativeTranscript] {
    let (nonce, own, hash) = (nonce, merchant, recipient.hash)
    let swapped = AppleMerchant(merchantID: own.teamID, teamID: own.merchantID)
    let simulator = AppleMerchant(merchantID: own.merchantID, teamID: AppleInApp.simulatorTeamID)
    var mistakes = [
      ("the nonce as its base64 text", Array(Base64.encode(nonce).utf8), own, hash),
      ("the nonce as its base64url text", Array(Base64.encodeURLSafe(nonce).utf8), own, hash),
      ("the nonce as hexadecimal text", Array(Hex.encode(nonce).utf8), own, hash),
      ("merchant and team swapped", nonce, swapped, hash),
      ("the hash of the key's SubjectPublicKeyInfo", nonce, own, recipient.keyInfoHash ?? hash),
      ("the team of Apple's simulator", nonce, simulator, hash),
    ]
    for other in others.filter({ $0 != own }).prefix(Self.triedMerchants) {
      let difference = "this relying party's other merchant \(other.merchantID) of team \(other.teamID)"
      mistakes.append((difference, nonce, other, hash))
    }
    return mistakes.map { difference, nonce, merchant, hash in
      AlternativeTranscript(
        difference, Self.transcript(nonce: nonce, merchant: merchant, recipientKeyHash: hash))
    }
  }

  private static let triedMerchants = 16

  /// The challenge as JSON, to be encrypted at rest. It includes merchant and team, so that a pending response stays
  /// valid when the configuration changes.
  public borrowing func serialized() -> SecretBytes {
    let json: JSON = [
      "nonce": .string(Hex.encode(nonce)), "merchant_id": .string(merchantID), "team_id": .string(teamID),
    ]
    return SecretBytes(copying: json.serialized())
  }

  /// Restores a challenge from the bytes of `serialized`; nil for other bytes.
  public init?(serialized: borrowing SecretBytes) {
    guard let json = try? JSON(parsing: serialized.exposed()), let nonce = json["nonce"]?.string.flatMap(Hex.decode),
      let merchantID = json["merchant_id"]?.string, let teamID = json["team_id"]?.string
    else { return nil }
    do throws(AppleChallengeError) {
      try self.init(nonce: nonce, merchantID: merchantID, teamID: teamID)
    } catch {
      return nil
    }
  }
}

public enum AppleChallengeError: Error, Sendable, Hashable {
  /// The nonce has fewer than 16 or more than 64 bytes.
  case nonceLength
}

/// A merchant of a relying party, with its identifiers in Apple's transcript.
public struct AppleMerchant: Sendable, Hashable {
  public let merchantID: String
  public let teamID: String

  public init(merchantID: String, teamID: String) {
    self.merchantID = merchantID
    self.teamID = teamID
  }
}

/// The certificate that Apple issued for a merchant's encryption key (Apple, Configuring your environment for the
/// Verify with Wallet API). Apps encrypt responses to the certificate's key while Apple's portal lists the certificate
/// for the merchant.
///
/// The subject's UID is the merchant's identifier, and its OU is the team. The certificate is the relying party's own,
/// and is not verified here.
public struct MerchantCertificate: Sendable {
  public let certificate: Certificate

  public init(_ certificate: Certificate, of merchant: AppleMerchant, key: PublicKey) throws(MerchantCertificateError) {
    guard certificate.publicKey?.encoded == key.encoded else { throw .otherKey }
    let subject = certificate.subject
    guard subject.userID == merchant.merchantID else { throw .otherMerchant(subject.userID) }
    guard subject.organizationalUnit == merchant.teamID else { throw .otherTeam(subject.organizationalUnit) }
    self.certificate = certificate
  }

  /// The merchant in Apple's certificate; nil for other certificates.
  public static func merchant(named certificate: Certificate) -> AppleMerchant? {
    guard let merchant = certificate.subject.userID, let team = certificate.subject.organizationalUnit,
      certificate.publicKey?.curve == .p256
    else { return nil }
    return AppleMerchant(merchantID: merchant, teamID: team)
  }
}

/// The reason why a certificate is not for a merchant's key, with the certificate's own text.
public enum MerchantCertificateError: Error, Sendable, Hashable {
  case otherKey
  case otherMerchant(String?)
  case otherTeam(String?)
}

/// The HPKEEnvelope of Apple's in-app requests (Apple, Verifying Wallet identity requests), checked and not yet opened.
struct AppleEnvelope {
  let encapsulatedKey: PublicKey
  let recipientKeyHash: ArraySlice<UInt8>
  let transcriptHash: ArraySlice<UInt8>
  let ciphertext: ArraySlice<UInt8>
  let leavesUnread: Bool

  static let algorithm = "APPLE-HPKE-v1"
  fileprivate static let hashLength = 32

  /// Records each check. Nil if a check failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    do throws(MdocParseError) {
      let item = try CBORItem(parsing: bytes, for: Recognition.appleEnvelope)
      let reader = StructureParser(code: .envelopeMalformed)
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
      checks.append([error.explained(Recognition.mistake(bytes, for: Recognition.appleEnvelope)).check])
      return nil
    }
  }

  /// The sender's ephemeral key of HPKE. Nil, with the failed check recorded, unless it is a point on P-256.
  static func point(_ encoded: ArraySlice<UInt8>, _ name: String, _ checks: inout CheckList) -> PublicKey? {
    let point = try? PublicKey(curve: .p256, encoded: encoded)
    checks.require(
      point != nil, .envelopeEncapsulatedKeyInvalid,
      encoded.count == 65
        ? "\(name) is not an uncompressed point on P-256" + (encoded.first == 4 ? "" : ": its first byte is not 0x04")
        : "the length of \(name) is \(encoded.count), not the 65 bytes of an uncompressed point on P-256")
    return point
  }

  /// Whether the envelope has the hash of this transcript.
  func isOver(_ transcript: SessionTranscript) -> Bool {
    HashAlgorithm.sha256.matches(transcriptHash, digestOf: transcript.encoded)
  }
}

/// The shared secret of one Apple envelope's key encapsulation (RFC 9180, 4.1). The secret opens only that envelope.
public final class AppleOpening: Sendable {
  let recipientKeyHash: [UInt8]
  let sharedSecret: SecretBytes

  init(of envelope: AppleEnvelope, with key: PrivateKey) throws(CryptoError) {
    sharedSecret = try HPKE.p256SHA256AES128GCM.sharedSecret(of: envelope.encapsulatedKey, recipient: key)
    recipientKeyHash = Array(envelope.recipientKeyHash)
  }

  /// The secret of an envelope whose challenge is not known yet; nil if the envelope is malformed or is for none of
  /// these keys.
  public convenience init?(ofEnvelope bytes: [UInt8], withOneOf keys: [PrivateKey]) throws(CryptoError) {
    var checks = CheckList()
    guard let envelope = AppleEnvelope(parsing: bytes, checks: &checks),
      let key = keys.first(where: {
        constantTimeEqual(AppleInApp.recipientKeyHash($0.publicKey), envelope.recipientKeyHash)
      })
    else { return nil }
    try self.init(of: envelope, with: key)
  }

  /// Restores a secret from the bytes of `serialized`; nil for other bytes.
  public init?(serialized: borrowing SecretBytes) {
    guard serialized.count > AppleEnvelope.hashLength else { return nil }
    recipientKeyHash = serialized.withUnsafeBytes { Array($0.prefix(AppleEnvelope.hashLength)) }
    sharedSecret = serialized.withUnsafeBytes { SecretBytes(copying: $0[AppleEnvelope.hashLength...]) }
  }

  public var serialized: SecretBytes { SecretBytes(copying: recipientKeyHash + sharedSecret.exposed()) }
}

extension Code {
  public static let envelopeAlgorithmUnsupported = Code(
    "envelope.algorithm_unsupported", "The envelope's algorithm is not APPLE-HPKE-v1",
    "Apple, Verifying Wallet identity requests: HPKEEnvelope", .wallet,
    passes: "The envelope has the agreed algorithm")
  public static let envelopeModeUnsupported = Code(
    "envelope.mode_unsupported", "The envelope's HPKE mode is not base", "RFC 9180, 5.1.1", .wallet,
    passes: "The envelope uses HPKE's base mode")
  public static let envelopeEncapsulatedKeyInvalid = Code(
    "envelope.encapsulated_key_invalid", "The encapsulated key is not an uncompressed point on P-256",
    "RFC 9180, 7.1.4", .wallet, passes: "The encapsulated key is a point on P-256")
  public static let envelopeRecipientKeyUnknown = Code(
    "envelope.recipient_key_unknown", "The response is encrypted to a key that this relying party does not have",
    "Apple, Verifying Wallet identity requests: pkRHash",
    "Check that the merchant's encryption certificate in use belongs to a configured private key.",
    passes: "The response is encrypted to a key of this relying party", cases: "A15")
  public static let envelopeTranscriptMismatch = Code(
    "envelope.transcript_mismatch", "The response's nonce, merchant, team or key differs from this session's",
    "Apple, Verifying Wallet identity requests: infoHash",
    "Compare nonce, merchant and team identifier with the app's. If they match, treat the response as a replay.",
    passes: "The response belongs to this nonce, merchant, team and key")
}

extension CodeGroup {
  public static let apple = CodeGroup(envelope.title, [.appleSimulatorAnswer, .appleProfileAnswer])
}
