import Base
import CBOR
import Cryptography

/// The verifier's side of a web protocol, for tests without a verifier: it makes requests to the mock wallet in every
/// form that there is. Nothing in it is random, so the same inputs give the same bytes.
package struct MockWebSession: Sendable {
  /// The P-256 key to which answers are encrypted.
  package var encryptionKey: PrivateKey
  package var nonce: [UInt8]
  package var origin: String
  /// The reader that signs requests, named by `x509_san_dns`.
  package var reader: MockReader
  package var responseURI: String
  package var state: String?
  /// Whether OpenID4VP requests ask for encrypted answers.
  package var isEncrypted = true

  package init(
    encryptionKey: PrivateKey, nonce: [UInt8], origin: String, reader: MockReader, responseURI: String,
    state: String? = nil
  ) {
    self.encryptionKey = encryptionKey
    self.nonce = nonce
    self.origin = origin
    self.reader = reader
    self.responseURI = responseURI
    self.state = state
  }

  /// The key's name in requests and answers: its thumbprint (RFC 7638), as in this project's verifier.
  package var keyID: String { Base64.encodeURLSafe(MockJWK.thumbprint(of: encryptionKey.publicKey)) }
  /// The client's name in OpenID4VP 1.0. In Annex B it has no prefix.
  package var clientID: String { "x509_san_dns:\(reader.dnsName)" }
  /// The nonce as OpenID4VP writes it.
  package var nonceText: String { Base64.encodeURLSafe(nonce) }

  /// EncryptionInfo (ISO/IEC TS 18013-7, Annex C): `["dcapi", {"nonce": …, "recipientPublicKey": …}]` in base64url.
  package var encryptionInfo: String {
    let info: CBORValue = [
      "dcapi", ["nonce": .bytes(nonce), "recipientPublicKey": COSEKey.fields(of: encryptionKey.publicKey).value],
    ]
    return Base64.encodeURLSafe(info.encoded())
  }

  /// `data` of the entry in `requests`, for a protocol of the Digital Credentials API.
  ///
  /// - Parameter requiresAll: whether the request wants every document and not just any one of them.
  package func data(for protocolName: String, _ request: MockRequest, requiresAll: Bool = false) throws -> JSON {
    if protocolName == MockProtocol.annexC {
      return [
        "deviceRequest": .string(Base64.encodeURLSafe(deviceRequest(request, requiresAll: requiresAll))),
        "encryptionInfo": .string(encryptionInfo),
      ]
    }
    var parameters = self.parameters(mode: "dc_api", query(request, requiresAll: requiresAll))
    guard protocolName != "openid4vp-v1-unsigned" else { return .object(parameters) }
    parameters.append(JSON.Member("expected_origins", [.string(origin)]))
    guard protocolName == "openid4vp-v1-multisigned" else {
      return ["request": .string(String(decoding: try signed(identified(parameters)), as: UTF8.self))]
    }
    // The client's name is in each protected header (OpenID4VP 1.0, A.3.2).
    let parts = String(decoding: try signed(parameters, header: [.init("client_id", .string(clientID))]), as: UTF8.self)
      .split(separator: ".").map { JSON.string(String($0)) }
    return ["request": ["payload": parts[1], "signatures": [["protected": parts[0], "signature": parts[2]]]]]
  }

  /// A signed request object. Its answer is posted to `responseURI`.
  package func requestObject(_ request: MockRequest, requiresAll: Bool = false) throws -> [UInt8] {
    try signed(identified(redirected(query(request, requiresAll: requiresAll))))
  }

  /// The id of Annex B's presentation definition.
  package static let definitionID = "mdoc-request"

  /// The request object of ISO/IEC TS 18013-7, Annex B.
  package func annexBRequestObject(_ request: MockRequest) throws -> [UInt8] {
    let descriptors = request.documents.map { document -> JSON in
      let fields = elements(of: document).map { element -> JSON in
        ["path": [.string("$['\(element.namespace)']['\(element.identifier)']")], "intent_to_retain": false]
      }
      return [
        "id": .string(document.docType), "format": ["mso_mdoc": ["alg": ["ES256"]]],
        "constraints": ["limit_disclosure": "required", "fields": .array(fields)],
      ]
    }
    let definition: JSON = ["id": .string(Self.definitionID), "input_descriptors": .array(descriptors)]
    let client: [JSON.Member] = [
      .init("client_id", .string(reader.dnsName)), .init("client_id_scheme", "x509_san_dns"),
    ]
    return try signed(client + redirected(.init("presentation_definition", definition)))
  }

  // MARK: Parts

  private func parameters(mode: String, _ query: JSON.Member) -> [JSON.Member] {
    var key = MockJWK.json(of: encryptionKey.publicKey).object ?? []
    key += [.init("use", "enc"), .init("alg", "ECDH-ES"), .init("kid", .string(keyID))]
    let metadata: JSON = [
      "jwks": ["keys": [.object(key)]], "encrypted_response_enc_values_supported": ["A128GCM", "A256GCM"],
    ]
    return [
      .init("response_type", "vp_token"), .init("response_mode", .string(isEncrypted ? mode + ".jwt" : mode)),
      .init("nonce", .string(nonceText)), query,
    ] + (isEncrypted ? [.init("client_metadata", metadata)] : [])
  }

  private func redirected(_ query: JSON.Member) -> [JSON.Member] {
    parameters(mode: "direct_post", query) + [.init("response_uri", .string(responseURI))]
      + (state.map { [.init("state", .string($0))] } ?? [])
  }

  private func identified(_ parameters: [JSON.Member]) -> [JSON.Member] {
    [.init("client_id", .string(clientID))] + parameters
  }

  /// A JWS with the reader's chain in `x5c` (RFC 9101).
  private func signed(_ parameters: [JSON.Member], header: [JSON.Member] = []) throws -> [UInt8] {
    let chain = reader.certificates.map { JSON.string(Base64.encode($0)) }
    let draft = CompactJWSDraft(
      header: [.init("alg", "ES256"), .init("typ", "oauth-authz-req+jwt"), .init("x5c", .array(chain))] + header,
      payload: JSON.object(parameters).serialized())
    return try draft.signed(by: reader.key)
  }

  private func query(_ request: MockRequest, requiresAll: Bool) -> JSON.Member {
    let credentials = request.documents.enumerated().map { index, document -> JSON in
      [
        "id": .string("document_\(index)"), "format": "mso_mdoc", "meta": ["doctype_value": .string(document.docType)],
        "claims": .array(
          elements(of: document).map { ["path": [.string($0.namespace), .string($0.identifier)]] }),
      ]
    }
    let options = request.documents.indices.map { JSON.array([.string("document_\($0)")]) }
    let isAnyOf = request.documents.count > 1 && !requiresAll
    return .init(
      "dcql_query",
      .members([
        "credentials": .array(credentials), "credential_sets": isAnyOf ? [["options": .array(options)]] : nil,
      ]))
  }

  private func deviceRequest(_ request: MockRequest, requiresAll: Bool) -> [UInt8] {
    let documents = request.documents.map { document -> CBORValue in
      var namespaces = MapDraft()
      for element in elements(of: document) {
        namespaces.nested(element.namespace) { $0[element.identifier] = false }
      }
      let items: CBORValue = ["docType": .text(document.docType), "nameSpaces": namespaces.value]
      return ["itemsRequest": .embedded(items)]
    }
    let isAnyOf = request.documents.count > 1 && !requiresAll
    var fields = MapDraft([("version", isAnyOf ? "1.1" : "1.0"), ("docRequests", .array(documents))])
    if isAnyOf {
      let sets = documents.indices.map { CBORValue.array([.unsigned(UInt64($0))]) }
      let information: CBORValue = ["useCases": [["mandatory": true, "documentSets": .array(sets)]]]
      fields["deviceRequestInfo"] = .embedded(information)
    }
    return fields.value.encoded()
  }

  /// The requested elements, with ages as `age_over_NN` in the namespace of the document's first element.
  private func elements(of document: MockRequest.Document) -> [(namespace: String, identifier: String)] {
    let namespace = document.elements.first?.namespace ?? MockNamespace.mDL
    return document.elements + document.ageOver.map { (namespace, "age_over_\($0)") }
  }
}
