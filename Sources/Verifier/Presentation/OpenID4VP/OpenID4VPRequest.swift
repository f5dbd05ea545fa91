import Base
import COSE
import Cryptography
import JOSE
import Longfellow
import Mdoc

/// An authorization request (OpenID4VP 1.0, 5 and A.3), in the forms that wallets accept.
///
/// It contains the session's nonce, so it has no mirror and no description.
public struct OpenID4VPRequest: Sendable, CustomStringConvertible, CustomReflectable {
  /// The parameters, without those that identify the client.
  let parameters: [JSON.Member]
  private let recipient: OpenID4VPRecipient
  private let registration: String?

  /// - Parameter acceptsMACs: whether devices may authenticate by MAC. This applies only if responses are encrypted.
  public init(
    _ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge, acceptsMACs: Bool = true,
    additions: RequestAdditions = RequestAdditions()
  ) {
    let isEncrypted = challenge.key != nil
    let (mode, responseURI): (String, String?) =
      if case .client(_, let uri) = challenge.recipient { ("direct_post", uri) } else { ("dc_api", nil) }
    let members: KeyValuePairs<String, JSON?> = [
      "response_type": "vp_token", "response_mode": .string(isEncrypted ? mode + ".jwt" : mode),
      "response_uri": responseURI.map(JSON.string), "nonce": .string(challenge.nonce),
      "state": challenge.state.map(JSON.string),
      "dcql_query": DCQLQuery(request, additions: additions).json,
      "client_metadata": Self.clientMetadata(encryptionKey: challenge.key?.publicKey, acceptsMACs: acceptsMACs),
    ]
    parameters = JSON.members(members).object ?? []
    recipient = challenge.recipient
    registration = additions.registration?.compactJWS
  }

  /// `data` of `openid4vp-v1-unsigned`: the bare parameters. There is no client identifier, since the browser vouches
  /// for the origin.
  public var unsigned: JSON { .object(parameters) }

  /// The parameters of a link that contains the request itself. The client identifier is first, and objects are JSON
  /// text (OpenID4VP 1.0, 5.1). Empty over the Digital Credentials API.
  public var linkParameters: [(name: String, value: String)] {
    guard case .client(let id, _) = recipient else { return [] }
    return [("client_id", id)] + parameters.map { ($0.name, $0.value.string ?? $0.value.text()) }
  }

  /// The request object (RFC 9101), a compact JWS.
  /// - Parameter walletNonce: the nonce that the wallet expects in the request object (5.10.1).
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    let client = JSON.Member("client_id", .string(reader.clientID))
    return try reader.signedRequest([client] + claims(reader.googleWalletMetadata), walletNonce: walletNonce)
  }

  /// `request` of `openid4vp-v1-multisigned`: every reader identifies itself in its own protected header (A.3.2.2).
  ///
  /// The readers share one `client_metadata`, with the first reader's metadata for Google Wallet. A reader with
  /// different metadata does not sign, since its certificate contradicts the request.
  public func signed(by readers: [ReaderIdentity]) throws(CryptoError) -> JSON {
    let metadata = readers.lazy.compactMap(\.googleWalletMetadata).first
    var signers: [JWSSigner] = []
    for reader in readers where reader.googleWalletMetadata == nil || reader.googleWalletMetadata == metadata {
      signers.append(try reader.requestSigner(parameters: [JSON.Member("client_id", .string(reader.clientID))]))
    }
    return try JWSSigner.sign(JSON.object(claims(metadata)).serialized(), by: signers)
  }

  /// The signed claims, without the client identifier. The wallet compares `expected_origins` with the requesting page,
  /// so a page cannot forward another page's request. `aud` is the value for wallets without discovery (5.8).
  /// - Parameter metadata: the reader's metadata. They are omitted from requests that a wallet fetches: Google Wallet
  ///   does not accept them there.
  private func claims(_ metadata: GoogleWalletMetadata?) -> [JSON.Member] {
    var claims = [JSON.Member("aud", "https://self-issued.me/v2")] + parameters
    if let registration {
      claims.append(JSON.Member("verifier_info", [["format": "registration_cert", "data": .string(registration)]]))
    }
    guard case .origin(let origin) = recipient else { return claims }
    let more = metadata.map { [JSON.Member("gw_rp_metadata_bytes", .string($0.text))] } ?? []
    return claims.map { claim in
      claim.name == "client_metadata" ? JSON.Member(claim.name, .object((claim.value.object ?? []) + more)) : claim
    } + [JSON.Member("expected_origins", [.string(origin)])]
  }

  /// `client_metadata` (OpenID4VP 1.0, 5.1 and 11.1): the key to encrypt to, and the algorithms of issuer and device
  /// (B.2.2). If there is an encryption key, the device may send a MAC instead of a signature (ISO/IEC 18013-5:2021,
  /// 9.1.3.5).
  private static func clientMetadata(encryptionKey: PublicKey?, acceptsMACs: Bool) -> JSON {
    let encryption = JWEHeader.ContentEncryption.allCases.map { JSON.string($0.rawValue) }
    let signatures = SignatureAlgorithm.all.map { JSON.integer($0.coseIdentifier) }
    let macWithP256 = acceptsMACs && encryptionKey != nil ? [JSON.integer(-65537)] : []
    return .members([
      "jwks": encryptionKey.map { ["keys": [JSONWebKey.encryptionKey($0)]] },
      "encrypted_response_enc_values_supported": encryptionKey.map { _ in .array(encryption) },
      "vp_formats_supported": [
        "mso_mdoc": [
          "issuerauth_alg_values": .array(signatures), "deviceauth_alg_values": .array(signatures + macWithP256),
        ]
      ],
    ])
  }

  public var description: String { "OpenID4VPRequest" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A relying party's request in the Digital Credentials Query Language (OpenID4VP 1.0, 6), for mdocs (B.2.3 there).
///
/// A query only tells the wallet which documents to offer. The response is checked against the request itself.
public struct DCQLQuery: Sendable, Hashable {
  /// `dcql_query`.
  public let json: JSON

  public init(_ request: PresentationRequest, additions: RequestAdditions = RequestAdditions()) {
    let credentials = request.documents.enumerated().flatMap { index, document in
      let authorities = additions.acceptedIssuers[document.docType].map { identifiers -> JSON in
        [["type": "aki", "values": .array(identifiers.map { .string(Base64.encodeURLSafe($0)) })]]
      }
      return Self.kinds(of: document).map { Self.credential(document, at: index, as: $0, authorities: authorities) }
    }
    json = .members(["credentials": .array(credentials), "credential_sets": Self.sets(of: request)])
  }

  /// The id of the query for a document, by its index in the request.
  public static func credentialID(_ index: Int) -> String { credentialID(index, .plain) }

  static func credentialID(_ index: Int, _ kind: PresentedResponse.DocumentKind) -> String {
    switch kind {
    case .plain: "document_\(index)"
    case .proof: "document_\(index)_zk"
    }
  }

  /// The accepted kinds of a document, the preferred one first. Each has its own query.
  static func kinds(of document: DocumentRequest) -> [PresentedResponse.DocumentKind] {
    guard let proofs = document.proofs else { return [.plain] }
    return proofs.isRequired ? [.proof] : [.proof, .plain]
  }

  /// The `credential_sets`; nil if every query must be satisfied, which is the default.
  private static func sets(of request: PresentationRequest) -> JSON? {
    let options = request.documents.enumerated().map { index, document in
      kinds(of: document).map { JSON.array([.string(credentialID(index, $0))]) }
    }
    if options.count > 1, !request.requiresAllDocuments { return [["options": .array(options.flatMap { $0 })]] }
    guard options.contains(where: { $0.count > 1 }) else { return nil }
    return .array(options.map { ["options": .array($0)] })
  }

  private static func credential(
    _ document: DocumentRequest, at index: Int, as kind: PresentedResponse.DocumentKind, authorities: JSON?
  ) -> JSON {
    let acceptable = AcceptableElements(document, isProof: kind == .proof)
    var elements = acceptable.requests
    let sets = acceptable.sets
    let used = Set(sets.joined())
    for other in elements.flatMap(\.alternatives)
    where used.contains(other) && !elements.contains(where: { $0.element == other }) {
      elements.append(ElementRequest(other, retention: document.retention(of: other)))
    }
    let ids = Dictionary(uniqueKeysWithValues: elements.enumerated().map { ($1.element, JSON.string("element_\($0)")) })
    let hasSets = sets.count > 1
    let claims = elements.map { wanted -> JSON in
      .members([
        "id": hasSets ? ids[wanted.element] : nil,
        "path": [.string(wanted.element.namespace), .string(wanted.element.identifier)],
        // Omitted if false, the default: EUDI's library rejects the member in a query for proofs.
        "intent_to_retain": wanted.intentToRetain ? true : nil,
      ])
    }
    return .members([
      "id": .string(credentialID(index, kind)), "format": kind == .plain ? "mso_mdoc" : "mso_mdoc_zk",
      "meta": meta(document, kind),
      "trusted_authorities": authorities,
      "claims": claims.isEmpty ? nil : .array(claims),
      "claim_sets": hasSets ? .array(sets.map { set in .array(set.compactMap { ids[$0] }) }) : nil,
    ])
  }

  /// A query for proofs with the offered circuits, in the form of Google Wallet and Multipaz. OpenID4VP itself does not
  /// define proofs yet.
  private static func meta(_ document: DocumentRequest, _ kind: PresentedResponse.DocumentKind) -> JSON {
    let circuits = kind == .plain ? nil : document.proofs?.circuits
    return .members([
      "doctype_value": .string(document.docType),
      "zk_system_type": circuits.map { circuits in .array(circuits.map(zkSystemType)) },
    ])
  }

  private static func zkSystemType(_ circuit: KnownCircuit) -> JSON {
    [
      "id": .string(circuit.label), "system": .string(KnownCircuit.system), "circuit_hash": .string(circuit.hash),
      "num_attributes": .integer(Int64(circuit.elements)), "version": .integer(Int64(circuit.version)),
      "block_enc_hash": .integer(Int64(circuit.hashBlock)), "block_enc_sig": .integer(Int64(circuit.signatureBlock)),
    ]
  }
}
