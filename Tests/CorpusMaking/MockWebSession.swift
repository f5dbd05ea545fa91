import Base
import CBOR
import Cryptography
import Mock

/// A web protocol's verifier, for tests: it makes requests in every form. The same inputs give the same bytes.
package struct MockWebSession: Sendable {
  /// The P-256 key to which responses are encrypted.
  package var encryptionKey: PrivateKey
  package var nonce: [UInt8]
  package var origin: String
  /// The reader that signs requests, named by `x509_san_dns`.
  package var reader: MockReader
  package var responseURI: String
  package var state: String?
  /// True if OpenID4VP requests ask for encrypted responses.
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

  /// The key's name in requests and responses: its thumbprint (RFC 7638), as in this project's verifier.
  package var keyID: String { Base64.encodeURLSafe(MockJWK.thumbprint(of: encryptionKey.publicKey)) }
  /// The client's name in OpenID4VP 1.0. In Annex B it has no prefix.
  package var clientID: String { "x509_san_dns:\(reader.dnsName)" }
  /// The nonce as OpenID4VP writes it.
  package var nonceText: String { Base64.encodeURLSafe(nonce) }

  /// EncryptionInfo (ISO/IEC TS 18013-7, Annex C): `["dcapi", {"nonce": …, "recipientPublicKey": …}]` in base64url.
  package var encryptionInfo: String {
    let recipientKey = MockSessionTranscript.readerKeyBytes(of: encryptionKey.publicKey)
    let info: CBORValue = [
      "dcapi", ["nonce": .bytes(nonce), "recipientPublicKey": .encoded(recipientKey)],
    ]
    return Base64.encodeURLSafe(info.encoded())
  }

  /// `data` of the entry in `requests`, for a protocol of the Digital Credentials API.
  ///
  /// - Parameter requiresAll: whether the response must have every document, and not only one.
  package func data(for protocolName: String, _ request: MockRequest, requiresAll: Bool = false) throws -> JSON {
    if protocolName == "org-iso-mdoc" {
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

  /// A signed request object. Its response is posted to `responseURI`.
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
    return try CompactJWS.sign(
      JSON.object(parameters).serialized(),
      header: [.init("alg", "ES256"), .init("typ", "oauth-authz-req+jwt"), .init("x5c", .array(chain))] + header,
      with: reader.key)
  }

  private func query(_ request: MockRequest, requiresAll: Bool) -> JSON.Member {
    let credentials = request.documents.enumerated().map { index, document -> JSON in
      [
        "id": .string("document_\(index)"), "format": "mso_mdoc", "meta": ["doctype_value": .string(document.docType)],
        "claims": .array(elements(of: document).map { ["path": [.string($0.namespace), .string($0.identifier)]] }),
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
      let elements = elements(of: document)
      let namespaces = unique(elements.map(\.namespace)).map { name -> (CBORValue, CBORValue) in
        let identifiers = unique(elements.filter { $0.namespace == name }.map(\.identifier))
        return (.text(name), .map(identifiers.map { (.text($0), false) }))
      }
      let items: CBORValue = ["docType": .text(document.docType), "nameSpaces": .map(namespaces)]
      return ["itemsRequest": .embedded(items)]
    }
    let isAnyOf = request.documents.count > 1 && !requiresAll
    var fields: [(CBORValue, CBORValue)] = [
      ("version", isAnyOf ? "1.1" : "1.0"), ("docRequests", .array(documents)),
    ]
    if isAnyOf {
      let sets = documents.indices.map { CBORValue.array([.unsigned(UInt64($0))]) }
      let information: CBORValue = ["useCases": [["mandatory": true, "documentSets": .array(sets)]]]
      fields.append(("deviceRequestInfo", .embedded(information)))
    }
    return CBORValue.map(fields).encoded()
  }

  /// The names in their order, without duplicates.
  private func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The requested elements, with ages as `age_over_NN` in the namespace of the document's first element.
  private func elements(of document: MockRequest.Document) -> [(namespace: String, identifier: String)] {
    let namespace = document.elements.first?.namespace ?? MockNamespace.mDL
    return document.elements + document.ageOver.map { (namespace, "age_over_\($0)") }
  }
}
