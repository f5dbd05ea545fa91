import Base
import CBOR
import Cryptography
import Mdoc

/// OpenID4VP 1.0 for mdocs (B.2). It opens an authorization response and verifies the documents. The response arrives
/// over the Digital Credentials API (`dc_api.jwt`, `dc_api`), or the wallet posts it (`direct_post.jwt`,
/// `direct_post`).
public struct OpenID4VP: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one response. The challenge is consumed, whatever the outcome.
  ///
  /// If the response is encrypted, a device MAC is also accepted, unless `acceptsMACs` is false. The encryption key of
  /// this one request is then the reader's key.
  /// - Parameters:
  ///   - response: the parameters that the request asked for: `response`, a JWE, or for an unencrypted response
  ///     `vp_token` and `state`. Other parameters are ignored (RFC 6749, 4.1.2). A missing `state` is only a warning,
  ///     since the transcript binds the session.
  ///   - names: further names of the relying party. If a response is for one of them, the report explains this.
  public func authenticate(
    _ response: JSON, answering challenge: consuming OpenID4VPChallenge, request: PresentationRequest,
    names: RelyingPartyNames = RelyingPartyNames(), acceptsMACs: Bool = true, at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16, clauses: EncryptedParameters.clauses)
    var description: String?
    guard let presented = open(response, challenge, request, names, acceptsMACs, &checks, &description) else {
      return verifier.refuse(checks.checks, walletDescription: description, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(
    _ response: JSON, _ challenge: borrowing OpenID4VPChallenge, _ request: PresentationRequest,
    _ names: RelyingPartyNames, _ acceptsMACs: Bool, _ checks: inout CheckList, _ walletDescription: inout String?
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let opened = parameters(of: response, challenge, &checks) else { return nil }
    let outer = challenge.key == nil ? nil : response["state"]
    guard challenge.acceptsState(of: opened.parameters, beside: outer, isStrict: verifier.isStrict, &checks) else {
      return nil
    }
    // An encrypted error is the wallet's own statement. It contains nothing to verify.
    if let error = opened.parameters["error"]?.string, opened.parameters["vp_token"] == nil {
      // A non-standard error is the wallet's own text. It may contain personal data.
      let code = Code(walletError: error)
      checks.failed(code, code == .walletOtherError ? "error is not one of the standard's" : "error is \(error)")
      walletDescription = opened.parameters.errorDescription
      return nil
    }
    guard let parts = VPToken.parts(of: opened.parameters["vp_token"], for: request, checks: &checks) else {
      return nil
    }
    return PresentedResponse(
      parts: parts, transcript: challenge.transcript,
      readerKey: acceptsMACs ? challenge.key : nil,
      alternatives: challenge.mistakes(names: names, mdocNonce: opened.mdocNonce),
      leavesUnread: response.leavesUnread || opened.parameters.leavesUnread)
  }

  /// The decrypted parameters. Also contains the nonce of a wallet that follows Annex B by mistake.
  private func parameters(
    of response: JSON, _ challenge: borrowing OpenID4VPChallenge, _ checks: inout CheckList
  ) -> (parameters: JSON, mdocNonce: String?)? {
    if let key = challenge.key {
      guard let opened = EncryptedParameters(opening: response, with: key, checks: &checks) else { return nil }
      let partyUInfo = opened.header.partyUInfo
      return (opened.parameters, partyUInfo.isEmpty ? nil : String(validating: partyUInfo, as: UTF8.self))
    }
    guard response["response"] == nil else {
      let form = JWTForm(of: response)?.rawValue ?? "there"
      checks.failed(.responseModeMismatch, "response is \(form); the request asked for an unencrypted vp_token")
      return nil
    }
    checks.passed(.responseModeMismatch)
    guard case .client = challenge.recipient, let text = response["vp_token"]?.string else {
      return (response, nil)
    }
    // In a form, every value is text. Text that is not JSON cannot be a vp_token, so it remains text.
    let token = (try? JSON(parsing: Array(text.utf8))) ?? .string(text)
    return (.members(["vp_token": token, "state": response["state"]]), nil)
  }

  private static let codes: [Code] =
    EncryptedParameters.codes + [.stateMismatch, .stateMissing, .vpTokenMalformed, .vpTokenIncomplete]
}

/// Further names of a relying party, besides the names in the request.
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

extension OpenID4VPChallenge {
  /// Transcripts with known mistakes of wallets. They let the report explain why a device signature does not verify. No
  /// response is accepted because of them.
  /// - Parameter mdocNonce: the response's nonce by Annex B of ISO/IEC TS 18013-7.
  func mistakes(names: RelyingPartyNames, mdocNonce: String?) -> [AlternativeTranscript] {
    let nonce = nonce
    let thumbprint = thumbprint
    var all: [AlternativeTranscript] = []
    func add(_ difference: String, _ recipient: OpenID4VPRecipient, thumbprint: CBORValue) {
      all.append(AlternativeTranscript(difference, recipient.transcript(nonce: nonce, thumbprint: thumbprint)))
    }
    if case .bytes(let bytes) = thumbprint {
      add("a response that is not encrypted, without the key's thumbprint", recipient, thumbprint: nil)
      let text = Base64.encodeURLSafe(bytes)
      add("the key's thumbprint as text", recipient, thumbprint: .text(text))
    }
    switch recipient {
    case .origin(let origin):
      for other in Self.origins(near: origin, names) {
        add("the origin \(other)", .origin(other), thumbprint: thumbprint)
      }
      for id in ["web-origin:" + origin, "origin:" + origin] + Self.clientIDs(names) {
        add("the handover of redirects", .client(id: id, responseURI: origin), thumbprint: thumbprint)
        // Draft 24 had no key in its handover.
        let info: [CBORValue] = [.text(origin), .text(id), .text(nonce)]
        all.append(
          AlternativeTranscript(
            "the handover of OpenID4VP's draft 24", OpenID4VPRecipient.transcript("OpenID4VPDCAPIHandover", info)))
      }
    case .client(let id, let responseURI):
      let host = Self.origin(of: responseURI).split(separator: "/").last.map { "x509_san_dns:\($0)" }
      let guesses = ["redirect_uri:" + responseURI] + (host.map { [$0] } ?? [])
      let others = Self.clientIDs(near: id, names) + guesses.flatMap { [$0] + Self.withoutPrefix($0) }
      for other in others where !other.hasSameBytes(as: id) {
        add("the client_id \(other)", .client(id: other, responseURI: responseURI), thumbprint: thumbprint)
      }
      let slashed = OpenID4VPRecipient.withOtherEnd(responseURI)
      add("the response_uri \(slashed)", .client(id: id, responseURI: slashed), thumbprint: thumbprint)
      let origin = Self.origin(of: responseURI)
      for origin in [origin] + Self.origins(near: origin, names) {
        add("the handover of the Digital Credentials API", .origin(origin), thumbprint: thumbprint)
      }
      guard let mdocNonce else { return all }
      for id in [id] + Self.clientIDs(near: id, names) {
        all.append(
          AlternativeTranscript(
            "the handover of ISO/IEC TS 18013-7, Annex B",
            AnnexB.transcript(clientID: id, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce)))
      }
    }
    return all
  }

  private static let triedNames = 16

  /// The origin in known misspellings of wallets, and the relying party's other origins.
  private static func origins(near origin: String, _ names: RelyingPartyNames) -> [String] {
    [origin + "/", "web-origin:" + origin, "origin:" + origin]
      + names.origins.filter { !$0.hasSameBytes(as: origin) }.prefix(triedNames)
  }

  private static func clientIDs(_ names: RelyingPartyNames) -> [String] {
    names.clientIDs.prefix(triedNames).flatMap { [$0] + withoutPrefix($0) }
  }

  private static func clientIDs(near id: String, _ names: RelyingPartyNames) -> [String] {
    withoutPrefix(id) + clientIDs(names).filter { !$0.hasSameBytes(as: id) }
  }

  /// `x509_san_dns:shop.example` without its prefix: earlier drafts had the prefix in a separate parameter.
  private static func withoutPrefix(_ id: String) -> [String] {
    id.split(separator: ":", maxSplits: 1).dropFirst().map(String.init)
  }

  /// Scheme, host and port of an address.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }
}
