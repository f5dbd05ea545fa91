import Base
import CBOR
import Cryptography
import Mdoc

/// Apple's in-app protocol (Apple, Verifying Wallet identity requests). It opens `PKIdentityDocument.encryptedData` and
/// verifies the document. The checks follow Apple's order, but are stricter than Apple's.
public struct AppleInApp: Sendable {
  private let verifier: MdocVerifier
  private var opener: AppleOpener

  /// Receives the secret that opened an envelope. Store this secret with the response instead of the merchant's key.
  /// The secret opens no other envelope.
  public var didOpen: (@Sendable (AppleOpening) -> Void)? {
    get { opener.didOpen }
    set { opener.didOpen = newValue }
  }

  /// The envelope's secret, if it was derived beforehand because a token stores the key.
  public var prepared: AppleOpening? {
    get { opener.prepared }
    set { opener.prepared = newValue }
  }

  /// Other merchants and keys of the relying party. They open no response. If a response is for one of them, the report
  /// explains this.
  public struct Others: Sendable {
    let merchants: [AppleMerchant]
    let keyHashes: [[UInt8]]

    public static let none = Others(merchants: [], keys: [])

    public init(merchants: [AppleMerchant], keys: [PublicKey]) {
      self.merchants = merchants
      keyHashes = keys.filter { $0.curve == .p256 }.map(AppleInApp.recipientKeyHash)
    }
  }

  /// The treatment of responses that are encrypted to the key that Apple published with its sample and simulator.
  public enum PublishedKeyPolicy: Sendable {
    /// Rejects the response, for servers. Anyone can encrypt or read such a response.
    case refuse
    /// Accepts the response with a warning, for `mdoc verify` and Apple's own sample.
    case warn
    /// Rejects the response but opens it with the published key, for test mode. The simulator's data are shown beside
    /// the rejection.
    case simulate
  }

  /// - Parameter keys: the merchant's current and former encryption keys. The response identifies the key to which it
  ///   is encrypted.
  public init(
    verifier: MdocVerifier, keys: [PrivateKey], publishedKey: PublishedKeyPolicy = .refuse, others: Others = .none
  ) {
    self.verifier = verifier
    let keys = keys.filter { $0.curve == .p256 }.map { RecipientKey($0) }
    opener = AppleOpener(keys: keys, publishedKey: publishedKey, others: others)
  }

  /// Verifies an opened response without the key that opened it.
  public init(verifier: MdocVerifier, opening: AppleOpening) {
    self.verifier = verifier
    opener = AppleOpener(keys: [RecipientKey(opening)])
  }

  /// `pkRHash`: SHA-256 over the 65-byte uncompressed point, not over the certificate or its key info.
  public static func recipientKeyHash(_ key: PublicKey) -> [UInt8] { HashAlgorithm.sha256.hash(key.encoded) }

  /// Opens and authenticates one response. The challenge is consumed, whatever the outcome.
  public func authenticate(
    _ envelope: [UInt8], answering challenge: consuming AppleChallenge, request: PresentationRequest?,
    at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(
      expecting: 16, clauses: [.envelopeMalformed: "Apple, Verifying Wallet identity requests: HPKEEnvelope"])
    guard let presented = opener.open(envelope, challenge: challenge, checks: &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  /// The plaintext is `{"identity": DeviceResponse}`, embedded as a map.
  static func identity(in plaintext: [UInt8], checks: inout CheckList) -> CBORItem? {
    do throws(MdocParseError) {
      let topics = try CBORItem(parsing: plaintext, for: Recognition.appleContent)
      let reader = StructureParser(code: .envelopePlaintextMalformed)
      let identity = try reader.member("identity", of: topics)
      _ = try reader.entries(identity, "identity")
      guard topics.count == 1 else { throw reader.fault("identity", "not the only member") }
      checks.passed(.envelopePlaintextMalformed)
      return identity
    } catch {
      checks.append([error.explained(Recognition.mistake(plaintext, for: Recognition.appleContent)).check])
      return nil
    }
  }

  static let simulatorTeamID = "PassKit_Identity_Test_Team_ID"
}

/// Opens envelopes with a merchant's keys.
private struct AppleOpener: Sendable {
  let keys: [RecipientKey]
  var publishedKey = AppleInApp.PublishedKeyPolicy.refuse
  var others = AppleInApp.Others.none
  var didOpen: (@Sendable (AppleOpening) -> Void)?
  var prepared: AppleOpening?

  func open(
    _ bytes: [UInt8], challenge: borrowing AppleChallenge, checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let envelope = AppleEnvelope(parsing: bytes, checks: &checks),
      let recipient = recipientKey(for: envelope, &checks)
    else { return nil }
    let transcript = challenge.transcript(recipientKeyHash: recipient.hash, teamID: recipient.simulatorTeamID)
    guard envelope.isOver(transcript) else {
      let mistake = challenge.mistakes(recipient: recipient, others: others.merchants)
        .difference(where: envelope.isOver)
      checks.failed(
        .envelopeTranscriptMismatch,
        mistake.map { "infoHash belongs to a transcript with \($0)" }
          ?? "infoHash is not the hash of this session's transcript: nonce, merchant, team or key differs")
      return nil
    }
    checks.passed(.envelopeTranscriptMismatch)
    guard let plaintext = decrypt(envelope, recipient, transcript, &checks),
      let identity = AppleInApp.identity(in: plaintext, checks: &checks)
    else { return nil }
    do throws(MdocParseError) {
      return PresentedResponse(
        parts: [.init(try DeviceResponse(parsing: identity))], transcript: transcript, readerKey: nil,
        isAppleInApp: true, showsSimulatedResponses: publishedKey == .simulate, leavesUnread: envelope.leavesUnread)
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  private func recipientKey(for envelope: AppleEnvelope, _ checks: inout CheckList) -> RecipientKey? {
    if Array(envelope.recipientKeyHash) == RecipientKey.simulator?.hash {
      let detail = "encrypted to Apple's published key"
      guard publishedKey == .warn else {
        checks.failed(.appleSimulatorAnswer, detail)
        return publishedKey == .simulate ? RecipientKey.simulator : nil
      }
      checks.warned(.appleSimulatorAnswer, detail)
    }
    // All keys are compared, each in constant time.
    var found: RecipientKey?
    for key in keys where constantTimeEqual(key.hash, envelope.recipientKeyHash) { found = key }
    checks.require(
      found != nil, .envelopeRecipientKeyUnknown, mistake(behindKeyHash: envelope.recipientKeyHash))
    return found
  }

  private func mistake(behindKeyHash hash: ArraySlice<UInt8>) -> String {
    if keys.contains(where: { hash.elementsEqual($0.keyInfoHash ?? []) }) {
      return "pkRHash is the hash of a configured key's SubjectPublicKeyInfo, not of its point"
    }
    return others.keyHashes.contains { hash.elementsEqual($0) }
      ? "it is encrypted to the key of another merchant of this relying party"
      : "pkRHash does not match any of this merchant's \(keys.count) configured keys"
  }

  private func decrypt(
    _ envelope: AppleEnvelope, _ recipient: RecipientKey, _ transcript: SessionTranscript, _ checks: inout CheckList
  ) -> [UInt8]? {
    let opening = prepared?.recipientKeyHash == recipient.hash ? prepared : recipient.opening(envelope)
    let plaintext = opening.flatMap { opening in
      try? HPKE.p256SHA256AES128GCM.open(
        envelope.ciphertext, sharedSecret: opening.sharedSecret, info: transcript.encoded)
    }
    if plaintext != nil, let opening { didOpen?(opening) }
    checks.require(
      plaintext != nil, .envelopeDecryptionFailed,
      "data (\(envelope.ciphertext.count) bytes) does not decrypt with the key that pkRHash names: data is damaged, "
        + "or pkEm does not belong to it")
    return plaintext
  }

  private static let codes: [Code] = [
    .envelopeMalformed, .envelopeAlgorithmUnsupported, .envelopeModeUnsupported, .envelopeEncapsulatedKeyInvalid,
    .envelopeRecipientKeyUnknown, .envelopeTranscriptMismatch, .envelopeDecryptionFailed, .envelopePlaintextMalformed,
  ]
}

/// A key to which responses are encrypted, or the secret of one response.
struct RecipientKey: Sendable {
  /// `pkRHash`: the hash of the 65-byte uncompressed point.
  let hash: [UInt8]
  /// The public key; nil if only its hash is known.
  private let key: PublicKey?
  let opening: @Sendable (AppleEnvelope) -> AppleOpening?
  /// The simulator's transcript has its own team.
  let simulatorTeamID: String?

  init(_ key: PrivateKey, simulatorTeamID: String? = nil) {
    hash = AppleInApp.recipientKeyHash(key.publicKey)
    self.key = key.publicKey
    opening = { try? AppleOpening(of: $0, with: key) }
    self.simulatorTeamID = simulatorTeamID
  }

  init(_ opening: AppleOpening) {
    hash = opening.recipientKeyHash
    key = nil
    self.opening = { _ in opening }
    simulatorTeamID = nil
  }

  /// The hash of the SubjectPublicKeyInfo, which other formats use; nil if the key is not known.
  var keyInfoHash: [UInt8]? { key.map { HashAlgorithm.sha256.hash(PublicKey.p256InfoPrefix + $0.encoded) } }

  /// The private key that Apple published with its sample archive. Anyone can decrypt responses to it.
  static let simulator: RecipientKey? = {
    let scalar = Hex.decode("b36638a4043a69915926515a5993acd53310b6f64f47ae4ee3f024853cc56111") ?? []
    let key = try? PrivateKey(curve: .p256, scalar: scalar)
    return key.map { RecipientKey($0, simulatorTeamID: AppleInApp.simulatorTeamID) }
  }()
}

/// The exact bytes of an in-app session, for comparison with Apple's sample files: its transcript and hashes, and the
/// inputs of a response's signatures. They verify nothing.
public struct AppleInspection: Sendable {
  public let transcript: SessionTranscript
  /// SHA-256 of the transcript.
  public let infoHash: [UInt8]
  /// SHA-256 of the recipient's uncompressed point.
  public let recipientKeyHash: [UInt8]
  private let nonce: [UInt8]
  private let merchant: AppleMerchant

  public init(of challenge: borrowing AppleChallenge, recipient key: PublicKey) {
    recipientKeyHash = AppleInApp.recipientKeyHash(key)
    transcript = challenge.transcript(recipientKeyHash: recipientKeyHash)
    infoHash = HashAlgorithm.sha256.hash(transcript.encoded)
    nonce = challenge.nonce
    merchant = challenge.merchant
  }

  /// The signature inputs of each document, for a response of this session.
  public func signatureInputs(of envelope: [UInt8], key: PrivateKey) throws(AppleInspectionError) -> [SignatureInputs] {
    let recipient = RecipientKey(key)
    let opener = AppleOpener(keys: recipient.hash == recipientKeyHash ? [recipient] : [], publishedKey: .warn)
    var checks = CheckList()
    guard
      let presented = opener.open(envelope, challenge: AppleChallenge(nonce: nonce, of: merchant), checks: &checks)
    else {
      let failed = checks.checks.first { $0.outcome == .failed }
      throw AppleInspectionError(code: failed?.code ?? .envelopeMalformed, detail: failed?.detail)
    }
    return presented.signatureInputs
  }
}

/// The reason to stop reading an envelope.
public struct AppleInspectionError: Error, Sendable, Hashable {
  public let code: Code
  public let detail: String?
}
