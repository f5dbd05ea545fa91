import Base
import Cryptography
import Mdoc

/// OpenID4VP 1.0 for mdocs (B.2): opens an authorization response and has its documents verified, over the Digital
/// Credentials API (`dc_api.jwt`, `dc_api`) and posted by the wallet (`direct_post.jwt`, `direct_post`).
public struct OpenID4VP: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one answer. Whatever is wrong, the challenge is used up.
  ///
  /// Where the answer is encrypted, a device MAC is good as well: the key of this one request is the reader's.
  ///
  /// - Parameters:
  ///   - response: the response's parameters: `response`, a JWE, or where the request asked for a clear answer
  ///     `vp_token` and `state`. Others are ignored (RFC 6749, 4.1.2).
  ///   - names: further names of the relying party, to say so where a wallet answered one of these.
  public func authenticate(
    _ response: JSON, answering challenge: consuming OpenID4VPChallenge, request: PresentationRequest,
    names: RelyingPartyNames = RelyingPartyNames(), at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16)
    guard let presented = open(response, challenge, request, names, &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(
    _ response: JSON, _ challenge: borrowing OpenID4VPChallenge, _ request: PresentationRequest,
    _ names: RelyingPartyNames, _ checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let opened = parameters(of: response, challenge, &checks) else { return nil }
    // An error that came encrypted: the wallet's own word, and there is nothing to verify.
    if let error = opened.parameters["error"]?.string, opened.parameters["vp_token"] == nil {
      checks.failed(Code(walletError: error))
      return nil
    }
    guard checkState(opened.parameters, challenge, &checks),
      let token = VPToken(opened.parameters["vp_token"], answering: request, checks: &checks)
    else { return nil }
    return PresentedResponse(
      parts: token.parts, transcript: challenge.transcript,
      macPolicy: challenge.key.map(PresentedResponse.MacPolicy.allowed) ?? .notAllowed,
      alternatives: challenge.mistakes(names: names, mdocNonce: opened.mdocNonce))
  }

  /// The parameters in clear, and the nonce by which an Annex B wallet would have answered.
  private func parameters(
    of response: JSON, _ challenge: borrowing OpenID4VPChallenge, _ checks: inout CheckList
  ) -> (parameters: JSON, mdocNonce: String?)? {
    if let key = challenge.key {
      guard let opened = EncryptedParameters(opening: response, with: key, checks: &checks) else { return nil }
      let partyUInfo = opened.header.partyUInfo
      return (opened.parameters, partyUInfo.isEmpty ? nil : String(validating: partyUInfo, as: UTF8.self))
    }
    guard case .client = challenge.recipient, let text = response["vp_token"]?.string else {
      return (response, nil)
    }
    // A form has only text: what is no JSON in it will be no vp_token either.
    let token = (try? JSON(parsing: Array(text.utf8))) ?? .null
    return (.members(["vp_token": token, "state": response["state"]]), nil)
  }

  private func checkState(
    _ parameters: JSON, _ challenge: borrowing OpenID4VPChallenge, _ checks: inout CheckList
  ) -> Bool {
    guard let state = challenge.state else { return true }
    let isOurs = constantTimeEqual(Array(state.utf8), Array((parameters["state"]?.string ?? "").utf8))
    checks.require(isOurs, .stateMismatch)
    return isOurs
  }

  private static let codes: [Code] =
    EncryptedParameters.codes + [.stateMismatch, .vpTokenMalformed, .vpTokenIncomplete]
}

/// What a relying party is called beside the names of the request at hand.
public struct RelyingPartyNames: Sendable {
  /// Web origins.
  public let origins: [String]
  /// Client identifiers with their prefixes.
  public let clientIDs: [String]

  public init(origins: [String] = [], clientIDs: [String] = []) {
    self.origins = origins
    self.clientIDs = clientIDs
  }
}
