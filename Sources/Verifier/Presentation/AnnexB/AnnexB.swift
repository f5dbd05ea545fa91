import Base
import CBOR
import Cryptography
import Mdoc

/// The OpenID4VP profile of ISO/IEC TS 18013-7:2024, Annex B, which is that of draft 18: Presentation Exchange, a nonce
/// of the mdoc's own, one DeviceResponse for all documents. Answers are always encrypted and posted by the wallet.
public struct AnnexB: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one answer. Whatever is wrong, the challenge is used up.
  ///
  /// - Parameters:
  ///   - response: the parameters that the wallet posted: `response`, a JWE.
  ///   - definitionID: of the presentation definition that was sent.
  public func authenticate(
    _ response: JSON, answering challenge: consuming OpenID4VPChallenge, request: PresentationRequest?,
    definitionID: String = PresentationDefinition.id, names: RelyingPartyNames = RelyingPartyNames(),
    at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16)
    guard let presented = open(response, challenge, definitionID, names, &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  /// `[null, null, [SHA-256([client_id, mdocNonce]), SHA-256([response_uri, mdocNonce]), nonce]]` (B.4.4).
  package static func transcript(
    clientID: String, responseURI: String, nonce: String, mdocNonce: String
  ) -> SessionTranscript {
    func hash(_ text: String) -> CBORValue {
      .bytes(HashAlgorithm.sha256.hash(CBORValue.array([.text(text), .text(mdocNonce)]).encoded()))
    }
    return SessionTranscript(written: [nil, nil, [hash(clientID), hash(responseURI), .text(nonce)]])
  }

  private func open(
    _ response: JSON, _ challenge: borrowing OpenID4VPChallenge, _ definitionID: String, _ names: RelyingPartyNames,
    _ checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let key = challenge.key, case .client(let clientID, let responseURI) = challenge.recipient else {
      // A challenge of another protocol, which no request of this one was made with.
      checks.failed(.sessionProtocolMismatch)
      return nil
    }
    guard let opened = EncryptedParameters(opening: response, with: key, checks: &checks) else { return nil }
    // `apu`: mdocGeneratedNonce (B.4.3.3.2).
    guard let mdocNonce = String(validating: opened.header.partyUInfo, as: UTF8.self), !mdocNonce.isEmpty else {
      checks.failed(.jweHeaderInvalid, "apu holds no nonce of the mdoc")
      return nil
    }
    guard checkState(opened.parameters, challenge, &checks),
      let bytes = deviceResponse(opened.parameters, definitionID, &checks),
      let response = DeviceResponse(parsing: bytes, into: &checks)
    else { return nil }
    let mistakes = Self.mistakes(
      challenge, clientID: clientID, responseURI: responseURI, mdocNonce: mdocNonce, names: names)
    return PresentedResponse(
      response: response,
      transcript: Self.transcript(
        clientID: clientID, responseURI: responseURI, nonce: challenge.nonce, mdocNonce: mdocNonce),
      macPolicy: .allowed(readerKey: key), alternatives: mistakes)
  }

  /// The printed example has no state in its answer; one that comes must be ours. The transcript binds the session.
  private func checkState(
    _ parameters: JSON, _ challenge: borrowing OpenID4VPChallenge, _ checks: inout CheckList
  ) -> Bool {
    guard let state = challenge.state, let given = parameters["state"] else { return true }
    let isOurs = constantTimeEqual(Array(state.utf8), Array((given.string ?? "").utf8))
    checks.require(isOurs, .stateMismatch)
    return isOurs
  }

  /// `vp_token` is the DeviceResponse itself, and the submission says which definition it is for.
  private func deviceResponse(_ parameters: JSON, _ definitionID: String, _ checks: inout CheckList) -> [UInt8]? {
    let submission = parameters["presentation_submission"]
    let bytes = parameters["vp_token"]?.string.flatMap(Base64.decodeURLSafe)
    let isWellFormed =
      bytes?.isEmpty == false && submission?["definition_id"]?.string?.hasSameBytes(as: definitionID) == true
    checks.require(isWellFormed, .vpTokenMalformed)
    return isWellFormed ? bytes : nil
  }

  private static let codes: [Code] = EncryptedParameters.codes + [.stateMismatch, .vpTokenMalformed]

  /// Transcripts by which a wallet may have answered by mistake. Nothing is accepted by them.
  private static func mistakes(
    _ challenge: borrowing OpenID4VPChallenge, clientID: String, responseURI: String, mdocNonce: String,
    names: RelyingPartyNames
  ) -> [AlternativeTranscript] {
    let nonce = challenge.nonce
    let thumbprint = challenge.thumbprint
    let prefixed = "x509_san_dns:" + clientID
    let clientIDs = [prefixed] + names.clientIDs.filter { !$0.hasSameBytes(as: clientID) && $0 != prefixed }
    let slashed = OpenID4VPRecipient.withOtherEnd(responseURI)
    return clientIDs.map { other in
      AlternativeTranscript(
        "the client_id \(other)",
        transcript(clientID: other, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce))
    } + [
      AlternativeTranscript(
        "the response_uri \(slashed)",
        transcript(clientID: clientID, responseURI: slashed, nonce: nonce, mdocNonce: mdocNonce))
    ]
      + [clientID, prefixed].map { id in
        AlternativeTranscript(
          "the handover of OpenID4VP 1.0",
          OpenID4VPRecipient.client(id: id, responseURI: responseURI).transcript(nonce: nonce, thumbprint: thumbprint))
      }
  }
}
