import Base
import CBOR
import Cryptography
import JOSE
import Mdoc

/// The OpenID4VP profile of ISO/IEC TS 18013-7:2024, Annex B. It is a profile of draft 18: Presentation Exchange, a
/// nonce that the mdoc makes, one DeviceResponse for all documents. Answers are always encrypted, and the wallet posts
/// them.
public struct AnnexB: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one answer. The challenge is used up, whatever the outcome.
  ///
  /// - Parameters:
  ///   - response: the parameters that the wallet posted: `response`, a JWE.
  ///   - definitionID: the id of the presentation definition that was sent.
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
      // The challenge belongs to another protocol, so no request of this one was made with it.
      checks.failed(.sessionProtocolMismatch, "the session's request is not one of Annex B")
      return nil
    }
    guard let opened = EncryptedParameters(opening: response, with: key, checks: &checks) else { return nil }
    // `apu`: mdocGeneratedNonce (B.4.3.3.2).
    guard let mdocNonce = String(validating: opened.header.partyUInfo, as: UTF8.self), !mdocNonce.isEmpty else {
      let found = opened.header.partyUInfo.isEmpty ? "missing or empty" : "not UTF-8 text"
      checks.failed(.jweHeaderInvalid, "apu is \(found); expected the nonce of the mdoc")
      return nil
    }
    // The standard's printed example has no state in its answer, so that strictness does not ask for it.
    guard challenge.takesState(of: opened.parameters, beside: response["state"], isStrict: false, &checks),
      let bytes = deviceResponse(opened.parameters, definitionID, &checks),
      let parsed = DeviceResponse(parsing: bytes, into: &checks)
    else { return nil }
    let mistakes = Self.mistakes(
      challenge, clientID: clientID, responseURI: responseURI, mdocNonce: mdocNonce, names: names)
    return PresentedResponse(
      response: parsed,
      transcript: Self.transcript(
        clientID: clientID, responseURI: responseURI, nonce: challenge.nonce, mdocNonce: mdocNonce),
      macPolicy: acceptsMACs ? .allowed(readerKey: key) : .notAllowed, alternatives: mistakes,
      leavesUnread: response.leavesUnread || opened.parameters.leavesUnread)
  }

  /// Reads the DeviceResponse out of `vp_token`. The submission says which definition it answers.
  private func deviceResponse(_ parameters: JSON, _ definitionID: String, _ checks: inout CheckList) -> [UInt8]? {
    let token = parameters["vp_token"]
    let submission = parameters["presentation_submission"]
    let bytes = token?.string.flatMap(Base64.decodeURLSafe) ?? []
    let name = token?.string.map { $0.isEmpty ? "empty" : Recognition.name(ofText: $0.utf8) ?? "text" }
    let fault: String? =
      if token == nil {
        "vp_token is missing"
      } else if bytes.isEmpty {
        "vp_token is \(name ?? "no string"), not a DeviceResponse in base64url without padding"
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

  /// Transcripts that a wallet may have used by mistake. They never make an answer accepted.
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

/// The request object of ISO/IEC TS 18013-7:2024, B.4.2: draft 18 of OpenID4VP, with the prefix of the client identifier
/// in a parameter of its own.
public struct AnnexBRequest: Sendable {
  private let parameters: JSON

  /// Nil for a challenge of the Digital Credentials API or one without a key: this profile always encrypts.
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
  ///
  /// - Parameter walletNonce: it is younger than this profile, and wallets that do not know it ignore it.
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    var members = parameters.object ?? []
    if let walletNonce { members.append(JSON.Member("wallet_nonce", .string(walletNonce))) }
    return try reader.requestSigner().sign(JSON.object(members).serialized())
  }
}

/// It holds the session's nonce, which neither logs nor error messages may show.
extension AnnexBRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "AnnexBRequest" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A relying party's request as Presentation Exchange has it in ISO/IEC TS 18013-7:2024, B.4.2: an input descriptor for
/// each document, named by its type, with a field for each element.
public struct PresentationDefinition: Sendable, Hashable {
  /// `presentation_definition`.
  public let json: JSON

  /// The definition's own id: there is one in a request.
  public static let id = "mdoc-request"

  public init(_ request: PresentationRequest) {
    let isChoice = request.documents.count > 1 && !request.requiresAllDocuments
    json = .members([
      "id": .string(Self.id),
      "input_descriptors": .array(request.documents.map { Self.descriptor($0, isChoice: isChoice) }),
      "submission_requirements": isChoice ? [["rule": "pick", "count": 1, "from": .string(choiceGroup)]] : nil,
    ])
  }

  /// `mso_mdoc` with JOSE's names of the algorithms. The names of RFC 9864 are left out: they say no more, and are
  /// younger than the profile.
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

/// The group of descriptors from which one is to be picked.
private let choiceGroup = "any"
