import Base
import CBOR
import Cryptography
import JOSE
import Mdoc

/// The OpenID4VP profile of ISO/IEC TS 18013-7:2024, Annex B. It is a profile of draft 18: Presentation Exchange, a
/// nonce of the mdoc, one DeviceResponse for all documents. The wallet posts its response, always encrypted.
public struct AnnexB: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one response. The challenge is consumed, whatever the outcome.
  /// - Parameters:
  ///   - response: the posted parameters: `response`, a JWE.
  ///   - definitionID: the id of the presentation definition in the request.
  public func authenticate(
    _ response: JSON, answering challenge: consuming OpenID4VPChallenge, request: PresentationRequest?,
    definitionID: String = PresentationDefinition.id, names: RelyingPartyNames = RelyingPartyNames(),
    acceptsMACs: Bool = true, at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16, clauses: EncryptedParameters.clauses)
    guard let presented = open(response, challenge, definitionID, names, acceptsMACs, &checks) else {
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
    _ acceptsMACs: Bool, _ checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let key = challenge.key, case .client(let clientID, let responseURI) = challenge.recipient else {
      // The challenge belongs to another protocol.
      checks.failed(.sessionProtocolMismatch, "the session's request is not an Annex B request")
      return nil
    }
    guard let opened = EncryptedParameters(opening: response, with: key, checks: &checks) else { return nil }
    // `apu`: mdocGeneratedNonce (B.4.3.3.2).
    guard let mdocNonce = String(validating: opened.header.partyUInfo, as: UTF8.self), !mdocNonce.isEmpty else {
      let found = opened.header.partyUInfo.isEmpty ? "missing or empty" : "not UTF-8 text"
      checks.failed(.jweHeaderInvalid, "apu is \(found); it must be the nonce of the mdoc")
      return nil
    }
    // The response in the standard's example has no state. Strict mode therefore does not require a state.
    guard challenge.acceptsState(of: opened.parameters, beside: response["state"], isStrict: false, &checks),
      let bytes = deviceResponse(opened.parameters, definitionID, &checks),
      let parsed = DeviceResponse(parsing: bytes, into: &checks)
    else { return nil }
    let mistakes = Self.mistakes(
      challenge, clientID: clientID, responseURI: responseURI, mdocNonce: mdocNonce, names: names)
    return PresentedResponse(
      parts: [.init(parsed)],
      transcript: Self.transcript(
        clientID: clientID, responseURI: responseURI, nonce: challenge.nonce, mdocNonce: mdocNonce),
      readerKey: acceptsMACs ? key : nil, alternatives: mistakes,
      leavesUnread: response.leavesUnread || opened.parameters.leavesUnread)
  }

  /// Reads the DeviceResponse in `vp_token`. The submission's `definition_id` must match the request's.
  private func deviceResponse(_ parameters: JSON, _ definitionID: String, _ checks: inout CheckList) -> [UInt8]? {
    let token = parameters["vp_token"]
    let submission = parameters["presentation_submission"]
    let bytes = token?.string.flatMap(Base64.decodeURLSafe) ?? []
    let name = token?.string.map { $0.isEmpty ? "empty" : Recognition.name(ofText: $0.utf8) ?? "text" }
    let fault: String? =
      if token == nil {
        "vp_token is missing"
      } else if bytes.isEmpty {
        "vp_token is \(name ?? "of another type"), not a DeviceResponse in base64url without padding"
      } else if submission == nil {
        "presentation_submission is missing"
      } else if submission?["definition_id"]?.string?.hasSameBytes(as: definitionID) != true {
        "presentation_submission.definition_id is not \"\(shown(definitionID))\""
      } else {
        nil
      }
    checks.require(fault == nil, .vpTokenMalformed, fault)
    return fault == nil ? bytes : nil
  }

  private static let codes: [Code] = EncryptedParameters.codes + [.stateMismatch, .stateMissing, .vpTokenMalformed]

  /// Transcripts that a wallet may use by mistake. They only explain a rejection.
  private static func mistakes(
    _ challenge: borrowing OpenID4VPChallenge, clientID: String, responseURI: String, mdocNonce: String,
    names: RelyingPartyNames
  ) -> [AlternativeTranscript] {
    let nonce = challenge.nonce
    let thumbprint = challenge.thumbprint
    let prefixed = "x509_san_dns:" + clientID
    let clientIDs =
      [prefixed, "redirect_uri:" + responseURI, responseURI]
      + names.clientIDs.prefix(16).filter { !$0.hasSameBytes(as: clientID) && $0 != prefixed }
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

/// The request object of ISO/IEC TS 18013-7:2024, B.4.2: draft 18 of OpenID4VP, with the client identifier's prefix in
/// a separate parameter.
///
/// It contains the session's nonce, so it has no mirror and no description.
public struct AnnexBRequest: Sendable, CustomStringConvertible, CustomReflectable {
  private let parameters: JSON

  /// Nil for a challenge without a key, or of the Digital Credentials API. This profile always encrypts.
  public init?(_ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge) {
    guard case .client(let clientID, let responseURI) = challenge.recipient, let key = challenge.key else { return nil }
    parameters = .members([
      "aud": "https://self-issued.me/v2", "response_type": "vp_token", "response_mode": "direct_post.jwt",
      "client_id": .string(clientID), "client_id_scheme": "x509_san_dns", "response_uri": .string(responseURI),
      "nonce": .string(challenge.nonce), "state": challenge.state.map(JSON.string),
      "presentation_definition": PresentationDefinition(request).json,
      "client_metadata": [
        "jwks": ["keys": [JSONWebKey.encryptionKey(key.publicKey)]],
        "authorization_encrypted_response_alg": .string(JWEHeader.algorithmName),
        "authorization_encrypted_response_enc": .string(JWEHeader.ContentEncryption.a256GCM.rawValue),
        "vp_formats": PresentationDefinition.format, "require_signed_request_object": true,
      ],
    ])
  }

  /// The request object (RFC 9101), a compact JWS.
  /// - Parameter walletNonce: the nonce that the wallet sent. This nonce is newer than the profile: wallets that do not
  ///   know it ignore it.
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    try reader.signedRequest(parameters.object ?? [], walletNonce: walletNonce)
  }

  public var description: String { "AnnexBRequest" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A relying party's request in Presentation Exchange (ISO/IEC TS 18013-7:2024, B.4.2). Each document has an input
/// descriptor with the document's type as its id, and with a field for each element.
public struct PresentationDefinition: Sendable, Hashable {
  /// `presentation_definition`.
  public let json: JSON

  /// The definition's own id.
  public static let id = "mdoc-request"

  public init(_ request: PresentationRequest) {
    let isChoice = request.documents.count > 1 && !request.requiresAllDocuments
    json = .members([
      "id": .string(Self.id),
      "input_descriptors": .array(request.documents.map { Self.descriptor($0, isChoice: isChoice) }),
      "submission_requirements": isChoice ? [["rule": "pick", "count": 1, "from": .string(choiceGroup)]] : nil,
    ])
  }

  /// `mso_mdoc` with JOSE's algorithm names. The names of RFC 9864 are omitted, since that RFC is newer than the
  /// profile.
  static var format: JSON {
    let names = SignatureAlgorithm.jose.map(\.name).filter { !["Ed25519", "Ed448"].contains($0) }
    return ["mso_mdoc": ["alg": .array(names.map(JSON.string))]]
  }

  private static func descriptor(_ document: DocumentRequest, isChoice: Bool) -> JSON {
    let fields = document.namedElements.map { wanted -> JSON in
      .members([
        "path": [.string("$\(step(wanted.element.namespace))\(step(wanted.element.identifier))")],
        "intent_to_retain": .bool(wanted.intentToRetain),
        "optional": wanted.isRequired ? nil : true,
      ])
    }
    return .members([
      "id": .string(document.docType), "format": format, "group": isChoice ? [.string(choiceGroup)] : nil,
      "constraints": ["fields": .array(fields), "limit_disclosure": "required"],
    ])
  }

  /// One step of a JSONPath in bracket notation (RFC 9535, 2.3.1.1).
  private static func step(_ name: String) -> String {
    let escaped = name.map { ["'", "\\"].contains($0) ? "\\\($0)" : String($0) }
    return "['\(escaped.joined())']"
  }
}

/// The group of descriptors from which the wallet picks one.
private let choiceGroup = "any"

extension Code {
  public static let sessionProtocolMismatch = Code(
    "session.protocol_mismatch", "The session did not offer this protocol", "HTTP API, Sessions",
    "Post the response with the protocol of its request; nothing was consumed.", status: 400, cases: "A18")
}
