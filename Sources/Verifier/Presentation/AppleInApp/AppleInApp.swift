import Base
import CBOR
import Cryptography
import Mdoc

/// Apple's in-app protocol (Apple, Verifying Wallet identity requests): opens `PKIdentityDocument.encryptedData` and
/// has its document verified, in Apple's order of checks made strict.
public struct AppleInApp: Sendable {
  private let verifier: MdocVerifier
  private let keys: [RecipientKey]
  private let publishedKey: PublishedKeyPolicy
  private let others: Others

  /// Other merchants and keys of the relying party. The report says so if an answer is for one of them. They open
  /// nothing.
  public struct Others: Sendable {
    let merchants: [AppleMerchant]
    let keyHashes: [[UInt8]]

    public static let none = Others(merchants: [], keys: [])

    public init(merchants: [AppleMerchant], keys: [PublicKey]) {
      self.merchants = merchants
      keyHashes = keys.filter { $0.curve == .p256 }.map(AppleInApp.recipientKeyHash)
    }
  }

  /// What to do with answers encrypted to the key that Apple published with its sample and simulator.
  public enum PublishedKeyPolicy: Sendable {
    /// For servers: anybody could have encrypted or read such an answer.
    case refuse
    /// For `mdoc verify` and Apple's own sample: a warning in the report.
    case warn
    /// For test mode: the answer is refused too, but it is opened with the published key, and a simulator's data are
    /// shown beside the refusal.
    case simulate
  }

  private struct RecipientKey {
    let secret: Secret
    let hashes: RecipientKeyHashes
    var hash: [UInt8] { hashes.point }
    /// The simulator puts a team of its own into the transcript.
    var simulatorTeamID: String?

    enum Secret {
      case key(PrivateKey)
      /// A secret that opens one envelope alone.
      case opening(AppleOpening)
    }
  }

  /// - Parameter keys: the merchant's encryption keys, current and former; the answer names the one it needs.
  /// - Parameter others: further merchants and keys of the relying party.
  public init(
    verifier: MdocVerifier, keys: [PrivateKey], publishedKey: PublishedKeyPolicy = .refuse, others: Others = .none
  ) {
    self.verifier = verifier
    self.keys = keys.filter { $0.curve == .p256 }.map {
      RecipientKey(secret: .key($0), hashes: RecipientKeyHashes(of: $0.publicKey))
    }
    self.publishedKey = publishedKey
    self.others = others
  }

  /// Verifies an answer that was opened before, without the key that opened it then.
  public init(verifier: MdocVerifier, opening: AppleOpening) {
    self.verifier = verifier
    keys = [RecipientKey(secret: .opening(opening), hashes: RecipientKeyHashes(point: opening.recipientKeyHash))]
    publishedKey = .refuse
    others = .none
  }

  /// `pkRHash`: SHA-256 over the 65-byte uncompressed point, not over the certificate or its key info.
  public static func recipientKeyHash(_ key: PublicKey) -> [UInt8] { RecipientKeyHashes(of: key).point }

  /// Opens and authenticates one answer. The challenge is used up, whatever the outcome.
  public func authenticate(
    _ envelope: [UInt8], answering challenge: consuming AppleChallenge, request: PresentationRequest?,
    at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(
      expecting: 16, clauses: [.envelopeMalformed: "Apple, Verifying Wallet identity requests: HPKEEnvelope"])
    guard let presented = open(envelope, challenge: challenge, checks: &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(
    _ bytes: [UInt8], challenge: borrowing AppleChallenge, checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let envelope = AppleEnvelope(parsing: bytes, checks: &checks),
      let recipient = recipientKey(for: envelope, &checks)
    else { return nil }
    let transcript = challenge.transcript(recipientKeyHash: recipient.hash, teamID: recipient.simulatorTeamID)
    let isOurs = envelope.isOver(transcript)
    if isOurs {
      checks.passed(.envelopeTranscriptMismatch)
    } else {
      let mistake = AppleChallenge.mistakes(
        nonce: challenge.nonce, own: challenge.merchant, recipient: recipient.hashes, others: others.merchants
      ).difference(where: envelope.isOver)
      checks.failed(
        .envelopeTranscriptMismatch,
        mistake.map { "it answers \($0)" }
          ?? "infoHash is not the hash of this session's transcript: nonce, merchant, team or key is another")
    }
    guard isOurs, let plaintext = decrypt(envelope, recipient, transcript, &checks) else { return nil }
    return present(plaintext, of: envelope, transcript: transcript, &checks)
  }

  private func recipientKey(for envelope: AppleEnvelope, _ checks: inout CheckList) -> RecipientKey? {
    if Array(envelope.recipientKeyHash) == Self.publishedKeyHash {
      switch publishedKey {
      case .refuse:
        checks.failed(.appleSimulatorAnswer, "encrypted to Apple's published key")
        return nil
      case .simulate:
        checks.failed(.appleSimulatorAnswer, "encrypted to Apple's published key")
        return Self.simulatorKey
      case .warn:
        checks.warned(.appleSimulatorAnswer, "encrypted to Apple's published key")
      }
    }
    // All keys are compared, each in constant time.
    var found: RecipientKey?
    for key in keys where constantTimeEqual(key.hash, envelope.recipientKeyHash) { found = key }
    if found != nil {
      checks.passed(.envelopeRecipientKeyUnknown)
    } else {
      checks.failed(.envelopeRecipientKeyUnknown, mistake(behindKeyHash: envelope.recipientKeyHash))
    }
    return found
  }

  private func mistake(behindKeyHash hash: ArraySlice<UInt8>) -> String {
    if keys.contains(where: { hash.elementsEqual($0.hashes.keyInfo ?? []) }) {
      return "it names the hash of a configured key's SubjectPublicKeyInfo, not of its point"
    }
    let isAnothers = others.keyHashes.contains { hash.elementsEqual($0) }
    return isAnothers
      ? "it is encrypted to a key of another of this relying party's merchants"
      : "pkRHash is the hash of none of this merchant's \(keys.count) configured keys"
  }

  private func decrypt(
    _ envelope: AppleEnvelope, _ recipient: RecipientKey, _ transcript: SessionTranscript, _ checks: inout CheckList
  ) -> [UInt8]? {
    let hpke = HPKE.p256SHA256AES128GCM
    let plaintext =
      switch recipient.secret {
      case .key(let key):
        try? hpke.open(
          envelope.ciphertext, encapsulatedKey: envelope.encapsulatedKey, recipient: key, info: transcript.encoded)
      case .opening(let opening):
        try? hpke.open(envelope.ciphertext, sharedSecret: opening.sharedSecret, info: transcript.encoded)
      }
    checks.require(
      plaintext != nil, .envelopeDecryptionFailed,
      "data, \(envelope.ciphertext.count) bytes, does not open with the key of pkRHash: it is damaged, or pkEm is not its"
    )
    return plaintext
  }

  private func present(
    _ plaintext: [UInt8], of envelope: AppleEnvelope, transcript: SessionTranscript, _ checks: inout CheckList
  ) -> PresentedResponse? {
    guard let identity = Self.identity(in: plaintext, checks: &checks) else { return nil }
    do throws(MdocParseError) {
      return PresentedResponse(
        response: try DeviceResponse(parsing: identity), transcript: transcript, macPolicy: .notAllowed,
        recognizesAppleMocks: true, fallsBackToAgeInYears: true, maxDocuments: 1,
        showsSimulatedAnswers: publishedKey == .simulate, leavesUnread: envelope.leavesUnread)
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  /// The plaintext is `{"identity": DeviceResponse}`, embedded as a map.
  static func identity(in plaintext: [UInt8], checks: inout CheckList) -> CBORItem? {
    do throws(MdocParseError) {
      let topics = try CBORItem(parsing: plaintext, for: Recognition.appleContent)
      let reader = StructureParser(code: .envelopePlaintextMalformed)
      try reader.expect(Recognition.appleContent, topics)
      let identity = try reader.member("identity", of: topics)
      _ = try reader.entries(identity, "identity")
      guard topics.count == 1 else { throw reader.fault("identity", "not the only member") }
      checks.passed(.envelopePlaintextMalformed)
      return identity
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  private static let codes: [Code] = [
    .envelopeMalformed, .envelopeAlgorithmUnsupported, .envelopeModeUnsupported, .envelopeEncapsulatedKeyInvalid,
    .envelopeRecipientKeyUnknown, .envelopeTranscriptMismatch, .envelopeDecryptionFailed, .envelopePlaintextMalformed,
  ]

  /// The private key that Apple published with its sample archive: anybody can open what is encrypted to it.
  private static let simulatorKey: RecipientKey? = {
    let scalar = Hex.decode("b36638a4043a69915926515a5993acd53310b6f64f47ae4ee3f024853cc56111") ?? []
    guard let key = try? PrivateKey(curve: .p256, scalar: scalar) else { return nil }
    return RecipientKey(
      secret: .key(key), hashes: RecipientKeyHashes(of: key.publicKey), simulatorTeamID: simulatorTeamID)
  }()

  static let simulatorTeamID = "PassKit_Identity_Test_Team_ID"

  /// SHA-256 of the point whose private key Apple published with its sample archive.
  private static let publishedKeyHash: [UInt8] =
    Hex.decode("b2c00f06b2df645691174f1331ade35141f17e19b3021d07560b4a71fc61818c") ?? []
}
