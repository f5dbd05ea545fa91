import Base
import CBOR
import Cryptography
import FoundationEssentials
import Mdoc
import PKIX
import Presentation
import TestSupport
import Trust

@testable import Mock

/// One small good response, under an Apple session, for properties over all its bytes.
///
/// Everything in it is fixed (keys, session, time), so that a failure can be repeated.
struct SmallAnswer {
  static let session = (nonce: [UInt8](0..<32), merchant: "merchant.example.shop", team: "ABCDE12345")

  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let request: PresentationRequest
  let envelope: [UInt8]
  /// `{"identity": DeviceResponse}`.
  let plaintext: [UInt8]
  let response: [UInt8]
  let transcript: [UInt8]
  private let verifier: MdocVerifier
  private let key: PrivateKey
  private let ephemeral: PrivateKey

  init() throws {
    let authority = try MockAuthority(seed: Array("properties".utf8))
    // Few elements are issued, too, so that the mobile security object is small.
    let elements = ["given_name", "family_name", "issuing_country", "birth_date"]
    var data = MockPerson.mDL
    data.namespaces = [
      .init(MockNamespace.mDL, data.namespaces[0].elements.filter { elements.contains($0.identifier) })
    ]
    data.ageThresholds = [21]
    let asked = MockRequest(documents: [
      .init(docType: MockDocType.mDL, elements: elements.map { (MockNamespace.mDL, $0) }, ageOver: [21])
    ])
    request = PresentationRequest(asked)
    key = try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0x11, count: 32))
    ephemeral = try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0x22, count: 32))
    let session = MockAppleSession(
      nonce: Self.session.nonce, merchantID: Self.session.merchant, teamID: Self.session.team,
      recipientKey: key.publicKey)
    let answer = try MockWallet(authority: authority, documents: [data]).answerApple(asked, session: session, at: now)
    envelope = answer.bytes
    response = answer.deviceResponse
    transcript = answer.sessionTranscript
    plaintext = CBORValue.map([("identity", .encoded(response))]).encoded()
    let anchor = TrustAnchor(
      certificate: try Certificate(der: authority.anchor(at: now).certificate), docTypes: [MockDocType.mDL])
    verifier = MdocVerifier(trust: try TrustStore(anchors: [anchor], allowsTestCertificates: true))
  }

  func verify(envelope: [UInt8]) throws -> Verdict {
    let challenge = try AppleChallenge(
      nonce: Self.session.nonce, merchantID: Self.session.merchant, teamID: Self.session.team)
    return AppleInApp(verifier: verifier, keys: [key]).authenticate(
      envelope, answering: challenge, request: request, at: now
    ).conclude()
  }

  /// Encrypts the plaintext again, as only a wallet can.
  func verify(plaintext: [UInt8]) throws -> Verdict { try verify(envelope: seal(plaintext)) }

  func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
    let draft = AppleEnvelopeDraft(
      MockAppleSession(
        nonce: Self.session.nonce, merchantID: Self.session.merchant, teamID: Self.session.team,
        recipientKey: key.publicKey))
    return try draft.seal(plaintext, ephemeralKey: ephemeral).value.encoded()
  }

  func verify(response: [UInt8], transcript: [UInt8]? = nil) throws -> Verdict {
    let transcript = try SessionTranscript(encoded: transcript ?? self.transcript)
    return Proximity(verifier: verifier).authenticate(
      response, transcript: transcript, readerKey: nil, request: request, at: now
    ).conclude()
  }
}

extension Verdict {
  /// Everything that a relying party sees of an accepted response, including values; nil if it is rejected.
  var shownResult: String? {
    guard case .accepted(let presentation) = outcome else { return nil }
    func show(_ elements: [AcceptedDocument.Element]) -> String {
      elements.map { "\($0.reference) \(plain($0.value)) \($0.retention)" }.joined(separator: "; ")
    }
    return presentation.documents.map { document in
      [
        document.docType, show(document.elements), show(document.deviceSignedElements),
        document.ageAnswers.map { "\($0.threshold) \($0.answer) \($0.provedBy)" }.joined(separator: "; "),
        "\(document.missingElements) \(document.unrequestedElements) \(document.issuer) "
          + (document.validity.map { "\($0)" } ?? "hidden"),
        "\(document.deviceAuthentication) \(document.revocation)",
      ].joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  private func plain(_ value: ElementValue) -> String {
    switch value {
    case .text(let text): "text \(text)"
    case .integer(let number): "integer \(number)"
    case .double(let number): "double \(number)"
    case .bool(let bool): "bool \(bool)"
    case .null: "null"
    case .fullDate(let date): "date \(date)"
    case .dateTime(let text): "time \(text)"
    case .bytes(let bytes): "bytes \(Hex.encode(bytes))"
    case .array(let elements): "[\(elements.map(plain).joined(separator: ", "))]"
    case .map(let entries): "{\(entries.map { "\(plain($0.key)): \(plain($0.value))" }.joined(separator: ", "))}"
    case .tagged(let tag, let content): "\(tag)(\(plain(content)))"
    }
  }
}

/// Whether to flip every single bit, or 2,000 chosen by a seed: `MDOC_EXHAUSTIVE=1`, meant for a release build.
let isExhaustive = ProcessInfo.processInfo.environment["MDOC_EXHAUSTIVE"] == "1"
