import Base
import Cryptography
import FoundationEssentials
import Mdoc
import Presentation
import Trust

/// Asks an iPhone for a given name and for being 21 or older.
struct BarDoor {
  let apple: AppleInApp
  let merchantID: String
  let teamID: String
  let givenName = ElementReference(Namespace.mDL, "given_name")

  /// Once, at the start: a trust store remembers the document signers that it has validated.
  init(anchors folder: String, merchantKey pem: [UInt8], merchantID: String, teamID: String) throws {
    let anchors = try TrustAnchorLoader(defaultDocTypes: [DocType.mDL]).load([folder])
    let trust = try TrustStore(anchors: anchors, allowsTestCertificates: false)
    try self.init(trust, PrivateKey(pem: pem), merchantID: merchantID, teamID: teamID)
  }

  init(_ trust: TrustStore, _ key: PrivateKey, merchantID: String, teamID: String) {
    apple = AppleInApp(verifier: MdocVerifier(trust: trust), keys: [key])
    self.merchantID = merchantID
    self.teamID = teamID
  }

  var request: PresentationRequest {
    PresentationRequest(documents: [
      DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(givenName)], minimumAge: 21)
    ])
  }

  /// For each person: the app passes it to `PKIdentityRequest.nonce`. Keep it until the response comes.
  func nonce() throws -> [UInt8] {
    try Random.bytes(32)
  }

  /// For each response, with its nonce. Delete the nonce first: a challenge accepts one response.
  func greeting(for answer: [UInt8], to nonce: [UInt8]) throws -> String {
    let challenge = try AppleChallenge(nonce: nonce, merchantID: merchantID, teamID: teamID)
    let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
    return greeting(for: answer, to: challenge, at: now)
  }

  /// The challenge can't be copied: a second use of it does not compile.
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
