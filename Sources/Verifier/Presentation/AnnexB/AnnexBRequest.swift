import Base
import Cryptography
import JOSE
import Mdoc

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
  /// - Parameter walletNonce: later than this profile, but harmless to those who do not know it.
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    var members = parameters.object ?? []
    if let walletNonce { members.append(JSON.Member("wallet_nonce", .string(walletNonce))) }
    return try reader.requestSigner().sign(JSON.object(members).serialized())
  }
}

/// It holds the session's nonce: neither logs nor error messages are to show it.
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

  /// `mso_mdoc` with the names that JOSE has for the algorithms: those of RFC 9864, which say no more, are
  /// younger than the profile.
  static var format: JSON {
    let names = JWSAlgorithm.all.map(\.name).filter { !["Ed25519", "Ed448"].contains($0) }
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

/// The group of descriptors of which one is to be picked.
private let choiceGroup = "any"
