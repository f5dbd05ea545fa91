import Base
import Cryptography
import Mdoc
import Presentation
import Trust

/// Asks an iPhone for a given name and for being 21 or older.
struct BarDoor {
  let apple: AppleInApp
  let givenName = ElementReference(Namespace.mDL, "given_name")

  /// Once, at the start: a trust store remembers the document signers that it has validated.
  init(anchors folder: String, merchantKey pem: [UInt8]) throws {
    let anchors = try TrustAnchorLoader(defaultDocTypes: [DocType.mDL]).load([folder])
    try self.init(TrustStore(anchors: anchors, allowsTestCertificates: false), PrivateKey(pem: pem))
  }

  init(_ trust: TrustStore, _ key: PrivateKey) {
    apple = AppleInApp(verifier: MdocVerifier(trust: trust), keys: [key])
  }

  var request: PresentationRequest {
    PresentationRequest(documents: [
      DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(givenName)], minimumAge: 21)
    ])
  }

  /// For each answer. The challenge can't be copied: a second use of it does not compile.
  func greeting(for answer: [UInt8], to challenge: consuming AppleChallenge, at now: Timestamp) -> String {
    let verdict = apple.authenticate(answer, answering: challenge, request: request, at: now).conclude()
    switch verdict.outcome {
    case .accepted(let presentation):
      let elements = presentation.documents[0].elements
      guard case .text(let name)? = elements.first(where: { $0.reference == givenName })?.value else {
        return "Come in."
      }
      return "Come in, \(name)."
    case .refused(let reasons):
      return "Sorry: " + reasons.map(\.code.rawValue).joined(separator: ", ")
    }
  }
}
