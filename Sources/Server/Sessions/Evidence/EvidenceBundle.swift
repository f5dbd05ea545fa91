import Base
import Cryptography
import Mdoc
import Trust

/// Everything that one verdict rests on: with it the ordinary verifier comes to the same report again, anywhere and
/// without a network.
///
/// The answer is kept as it was posted, with the challenge that it answered; of the trust store the anchors in question;
/// of publishers the lists as they were signed. A merchant's private key is not in it, only what opens this one answer.
package struct EvidenceBundle: Sendable {
  /// Of a sealed one.
  package static let mediaType = "application/octet-stream"

  /// Whether a live server kept it. What only test mode trusts is trusted in a bundle of test mode alone.
  package let isLive: Bool
  /// The version of the program that kept it.
  package let program: String
  package let session: SessionID
  package let relyingParty: String
  package let protocolName: String
  package let request: PresentationRequest
  /// The request as the wallet had it.
  let requestData: JSONText
  /// What the protocol kept of the challenge, which is used up.
  let material: SharedSecret
  let answer: WalletAnswer.Content
  /// What opens the answer beside the challenge: `WalletProtocol.openingSecret`.
  let openingSecret: SharedSecret?
  let clockSkew: Int64
  let trust: TrustExcerpt
  let revocation: EvidenceRevocation
  /// As it was given.
  package let report: ReportRecord

  /// Opens what a server gave out.
  package init(opening sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceFault) {
    let content = try EvidenceKey.open(sealed, with: keys)
    // What opens was written by a server: only a fault of ours, or of another with the key, can make it unreadable.
    guard let json = try? JSON(parsing: content, values: .max), let bundle = EvidenceBundle(json) else {
      throw EvidenceFault(.evidenceMalformed, "the content is not that of a bundle")
    }
    self = bundle
  }

  init(
    isLive: Bool, session: SessionID, relyingParty: String, protocolName: String, request: PresentationRequest,
    requestData: JSONText, material: SharedSecret, answer: WalletAnswer.Content, openingSecret: SharedSecret?,
    clockSkew: Int64, trust: TrustExcerpt, revocation: EvidenceRevocation, report: ReportRecord,
    program: String = ProgramVersion.text
  ) {
    self.isLive = isLive
    self.program = program
    self.session = session
    self.relyingParty = relyingParty
    self.protocolName = protocolName
    self.request = request
    self.requestData = requestData
    self.material = material
    self.answer = answer
    self.openingSecret = openingSecret
    self.clockSkew = clockSkew
    self.trust = trust
    self.revocation = revocation
    self.report = report
  }
}

/// Personal, all of it.
extension EvidenceBundle: CustomStringConvertible, CustomReflectable {
  package var description: String { "EvidenceBundle(\(session), redacted)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
