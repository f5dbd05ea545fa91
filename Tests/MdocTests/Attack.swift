import Base
import CBOR
import Cryptography
import Mdoc
import PKIX
import Presentation
import Testing
import Trust

@testable import Mock

/// A response of the mock wallet with one attack in it, and the verifier under attack.
struct Attack {
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority
  let trust: TrustStore
  let transcript: SessionTranscript
  var documents = [MockPerson.mDL]
  var mock = MockRequest.standard

  /// - Parameter docTypes: the types for which the anchor is trusted; nil for all, with a warning.
  init(docTypes: [String]? = nil) throws {
    authority = try MockAuthority(seed: Array("attacks".utf8))
    let anchor = try authority.anchor(at: now)
    trust = try TrustStore(
      anchors: [TrustAnchor(certificate: Certificate(der: anchor.certificate), docTypes: docTypes)],
      allowsTestCertificates: true)
    transcript = try SessionTranscript(
      encoded: MockSessionTranscript.qr(deviceEngagement: [0xa0], readerKey: [0xa0]))
  }

  func response(_ mutation: MockMutation) throws -> [UInt8] {
    let variant = MockVariant("attack", "", mutation)
    return try MockWallet(authority: authority, documents: documents)
      .answer(mock, transcript: transcript.encoded, variant: variant, at: now).bytes
  }

  func verify(_ response: [UInt8], request: PresentationRequest?, isStrict: Bool = false) -> Verdict {
    Proximity(verifier: MdocVerifier(trust: trust, isStrict: isStrict))
      .authenticate(response, transcript: transcript, readerKey: nil, request: request, at: now).conclude()
  }

  func codes(_ mutation: MockMutation, request: PresentationRequest? = Attack.request) throws -> [Code] {
    try verify(response(mutation), request: request).report.reasons.map(\.code)
  }

  static let request = PresentationRequest(documents: [
    DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))])
  ])
}

extension Verdict {
  var accepted: AcceptedPresentation? {
    if case .accepted(let presentation) = outcome { presentation } else { nil }
  }
}

extension ResponseDraft {
  var documents: [CBORValue] {
    get { if case .array(let documents)? = fields["documents"] { documents } else { [] } }
    set { fields["documents"] = .array(newValue) }
  }
}
