import Base
import CBOR
import Cryptography
import FuzzDriver
import Mdoc
import Vectors

@testable import Mock
@testable import Presentation

/// A response to Apple's in-app request: the envelope itself, or a plaintext that the harness encrypts. Mutations of an
/// envelope never get past the decryption.
///
/// Options: strictness, plaintext instead of envelope, signing again, the policy for Apple's published key, and the
/// request.
struct AppleEnvelopeTarget: FuzzTarget {
  static let name = "apple-envelope"
  static let dictionary =
    ["algorithm", "APPLE-HPKE-v1", "params", "mode", "pkEm", "pkRHash", "infoHash", "data", "identity"]
    + ResponseWords.all
  static let choicesBeforeCBOR: Int? = 2

  private static let strict = 1
  private static let plaintext = 2
  private static let resigned = 4
  private static let policies: [AppleInApp.PublishedKeyPolicy] = [.refuse, .warn, .simulate]

  private let material: Material
  private let session: VectorSession.AppleInApp
  private let key: PrivateKey
  private let ephemeral: PrivateKey
  private let transcript: [UInt8]
  private let opened: [(vector: TestVector, plaintext: [UInt8])]
  private var signed = SignedParts()

  init(_ material: Material) throws {
    self.material = material
    guard let first = material.appleVectors.first else { throw MaterialError.missing("an answer to Apple's request") }
    let session = first.session
    let key = try PrivateKey(curve: .p256, scalar: session.recipientKey)
    let transcript = try Self.challenge(session).transcript(
      recipientKeyHash: AppleInApp.recipientKeyHash(key.publicKey)
    ).encoded
    self.session = session
    self.key = key
    self.transcript = transcript
    ephemeral = try material.authority.seed.key("fuzzing", on: .p256)
    opened = material.appleVectors.compactMap { vector, _ in
      Self.open(vector.input.bytes, key, transcript).map { (vector, $0) }
    }
    for (vector, plaintext) in opened {
      guard let response = try? CBORItem(parsing: plaintext)[key: "identity"] else { continue }
      signed.note(response, judge(vector.input.bytes, options: 0, nil))
    }
  }

  var seeds: [[UInt8]] {
    let envelopes = material.appleVectors.filter { !$0.vector.input.isGenerated }.flatMap { vector, _ in
      (0...2).map { policy in header(vector, 0, policy: policy) + vector.input.bytes }
    }
    let plaintexts = opened.flatMap { vector, plaintext in
      [Self.plaintext, Self.plaintext | Self.resigned].map { header(vector, $0, policy: 0) + plaintext }
    }
    return envelopes + plaintexts
  }

  private func header(_ vector: TestVector, _ options: Int, policy: Int) -> [UInt8] {
    let strict = vector.policy.isStrict ? Self.strict : 0
    return [UInt8(options | strict | policy << 4), UInt8(material.requestIndex(of: vector))]
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let options = choices.byte()
    let request = material.requests[choices.byte() % material.requests.count]
    var envelope = choices.bytes
    let isResigned = options & Self.plaintext != 0 && options & Self.resigned != 0
    if options & Self.plaintext != 0 {
      let plaintext = isResigned ? resigned(choices.bytes) : choices.bytes
      guard let sealed = seal(plaintext) else { return }
      envelope = sealed
    }
    let verdict = judge(envelope, options: options, request)
    let response = Self.open(envelope, key, transcript).flatMap { try? CBORItem(parsing: $0)[key: "identity"] }
    signed.check(verdict, on: response, isResigned: isResigned, at: material.now)
    require(verdict.simulated == nil || verdict.isRefused, "what nobody signed is shown beside a refusal only")
  }

  private func judge(_ bytes: [UInt8], options: Int, _ request: PresentationRequest?) -> Verdict {
    guard let challenge = try? Self.challenge(session) else { fatalError("the corpus's nonce has a length of its own") }
    return AppleInApp(
      verifier: material.verifier(isStrict: options & Self.strict != 0), keys: [key],
      publishedKey: Self.policies[options >> 4 % Self.policies.count]
    ).authenticate(bytes, answering: challenge, request: request, at: material.now).conclude()
  }

  private func resigned(_ plaintext: [UInt8]) -> [UInt8] {
    material.resigner.resigned(plaintext, transcript: transcript) { $0[key: "identity"] }
  }

  private func seal(_ plaintext: [UInt8]) -> [UInt8]? {
    let draft = AppleEnvelopeDraft(
      MockAppleSession(
        nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID, recipientKey: key.publicKey))
    return try? draft.seal(plaintext, ephemeralKey: ephemeral).value.encoded()
  }

  private static func challenge(_ session: VectorSession.AppleInApp) throws -> AppleChallenge {
    try AppleChallenge(nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
  }

  private static func open(_ envelope: [UInt8], _ key: PrivateKey, _ transcript: [UInt8]) -> [UInt8]? {
    guard let item = try? CBORItem(parsing: envelope), let data = item[key: "data"]?.bytes,
      let encoded = item[key: "params"]?[key: "pkEm"]?.bytes, let point = try? PublicKey(curve: .p256, encoded: encoded)
    else { return nil }
    return try? HPKE.p256SHA256AES128GCM.open(data, encapsulatedKey: point, recipient: key, info: transcript)
  }
}

extension Verdict {
  fileprivate var isRefused: Bool { if case .refused = outcome { true } else { false } }
}
