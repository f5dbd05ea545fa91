import Base
import CBOR
import Longfellow

/// The documents that a web protocol's request asks for, as the wallet reads it, and the sets of them that answer it.
struct AskedDocuments: Sendable {
  struct Query: Sendable {
    /// The credential query's id (OpenID4VP 1.0, 6.1); empty if the protocol has none.
    let id: String
    var document: MockRequest.Document
  }

  var queries: [Query]
  /// Sets of positions in `queries`, in the order of preference. One of these sets is to be answered as a whole.
  var alternatives: [[Int]]

  /// The whole request, in the form of the mock wallet.
  var request: MockRequest { MockRequest(documents: queries.map(\.document)) }

  /// The documents with the elements that `request` has. Documents that `request` lacks are left out.
  func restricted(to request: MockRequest?) -> AskedDocuments {
    guard let request else { return self }
    let kept = queries.indices.filter { index in
      request.documents.contains { $0.docType == queries[index].document.docType }
    }
    var copy = self
    copy.queries = kept.map { index in
      var query = queries[index]
      if let agreed = request.documents.first(where: { $0.docType == query.document.docType }) {
        query.document.elements = agreed.elements
        query.document.ageOver = agreed.ageOver
      }
      return query
    }
    copy.alternatives = alternatives.map { set in set.compactMap { kept.firstIndex(of: $0) } }.filter { !$0.isEmpty }
    return copy
  }

  /// The queries of the first set that the wallet can answer in full. If it has none in full, those of the first set that it
  /// can.
  ///
  /// - Throws: `MockError.noRequestedDocument` if it has nothing of the first set either.
  func chosen(by wallet: MockWallet) throws -> [Query] {
    func held(_ set: [Int]) -> [Int] {
      set.filter { queries.indices.contains($0) && wallet.canAnswer(queries[$0].document) }
    }
    let whole = alternatives.first { !$0.isEmpty && held($0) == $0 }
    let positions = whole ?? held(alternatives.first ?? [])
    guard !positions.isEmpty else {
      throw MockError.noRequestedDocument(queries.map(\.document.docType))
    }
    return positions.map { queries[$0] }
  }
}

// MARK: ISO/IEC 18013-5, 8.3.2.1.2.1

extension AskedDocuments {
  /// - Parameter deviceRequest: base64url of a DeviceRequest.
  init(deviceRequest text: String) throws {
    guard let bytes = Base64.decodeURLSafe(text), let request = try? CBORItem(parsing: bytes),
      let documents = request[key: "docRequests"]?.elements
    else { throw MockError.unreadableRequest("deviceRequest is no DeviceRequest") }
    queries = try documents.map { document in
      guard let items = document[key: "itemsRequest"]?.embedded, let docType = items[key: "docType"]?.text,
        let namespaces = items[key: "nameSpaces"]?.entries
      else { throw MockError.unreadableRequest("itemsRequest is no ItemsRequest") }
      let elements = namespaces.flatMap { namespace, identifiers in
        (identifiers.entries.map(Array.init) ?? []).map { (namespace.text ?? "", $0.key.text ?? "") }
      }
      var asked = MockRequest.Document(docType: docType, elements: elements)
      if let proofs = items[key: "requestInfo"]?[key: "zkRequest"] {
        let specs = proofs[key: "systemSpecs"]?.elements.map(Array.init) ?? []
        asked.circuits = Self.circuits(named: specs.map { $0[key: "params"]?[key: "circuit_hash"]?.text })
        asked.requiresProof = proofs[key: "zkRequired"]?.bool == true
      }
      return Query(id: "", document: asked)
    }
    alternatives = [Array(queries.indices)]
    // In the second edition, one document set of each use case is to be answered. A verifier of this project makes one
    // use case.
    if let information = request[key: "deviceRequestInfo"]?.embedded,
      let useCase = information[key: "useCases"]?.elements?.first(where: { $0[key: "mandatory"]?.bool == true }),
      let sets = useCase[key: "documentSets"]?.elements
    {
      alternatives = sets.map { set in (set.elements.map(Array.init) ?? []).compactMap { $0.unsigned.map(Int.init) } }
    }
  }
}

extension AskedDocuments {
  /// Those of the circuits that there are; others are passed over, as wallets pass them over.
  private static func circuits(named hashes: [String?]) -> [KnownCircuit] {
    hashes.compactMap { hash in KnownCircuit.all.first { $0.hash == hash } }
  }
}

extension MockWallet {
  /// Whether the wallet has the document, and can prove it if only a proof is welcome.
  func canAnswer(_ document: MockRequest.Document) -> Bool {
    guard docTypes.contains(document.docType) else { return false }
    return !document.requiresProof || prover?.canProve(document) == true
  }
}

// MARK: OpenID4VP 1.0, 6

extension AskedDocuments {
  init(dcql: JSON) throws {
    guard let credentials = dcql["credentials"]?.array, !credentials.isEmpty else {
      throw MockError.unreadableRequest("dcql_query has no credentials")
    }
    queries = try credentials.map { credential in
      guard let id = credential["id"]?.string, let format = credential["format"]?.string,
        ["mso_mdoc", "mso_mdoc_zk"].contains(format), let docType = credential["meta"]?["doctype_value"]?.string
      else { throw MockError.unreadableRequest("a credential query is none for an mdoc") }
      let elements = (credential["claims"]?.array ?? []).compactMap { claim -> (String, String)? in
        let path = (claim["path"]?.array ?? []).compactMap(\.string)
        return path.count == 2 ? (path[0], path[1]) : nil
      }
      var asked = MockRequest.Document(docType: docType, elements: elements)
      asked.requiresProof = format == "mso_mdoc_zk"
      let specs = credential["meta"]?["zk_system_type"]?.array ?? []
      asked.circuits = Self.circuits(named: specs.map { $0["circuit_hash"]?.string })
      return Query(id: id, document: asked)
    }
    alternatives = [Array(queries.indices)]
    // Without sets every query is to be answered; with them one option of each set.
    if let sets = dcql["credential_sets"]?.array {
      alternatives = [[]]
      for set in sets {
        let options = (set["options"]?.array ?? []).map { option in
          (option.array ?? []).compactMap { name in queries.firstIndex { $0.id == name.string } }
        }
        alternatives = Array(alternatives.flatMap { chosen in options.map { chosen + $0 } }.prefix(256))
      }
    }
  }

  // MARK: ISO/IEC TS 18013-7, B.3.2

  /// Reads Presentation Exchange. Each input descriptor's id is a document type. If a submission requirement picks, any
  /// one of the documents will do.
  init(presentationDefinition definition: JSON) throws {
    guard let descriptors = definition["input_descriptors"]?.array, !descriptors.isEmpty else {
      throw MockError.unreadableRequest("presentation_definition has no input_descriptors")
    }
    queries = try descriptors.map { descriptor in
      guard let id = descriptor["id"]?.string else {
        throw MockError.unreadableRequest("an input descriptor has no id")
      }
      let elements = (descriptor["constraints"]?["fields"]?.array ?? []).compactMap { field -> (String, String)? in
        // $['namespace']['element']
        let parts = (field["path"]?.array?.first?.string ?? "").split(
          separator: "'", omittingEmptySubsequences: false)
        return parts.count == 5 ? (String(parts[1]), String(parts[3])) : nil
      }
      return Query(id: id, document: .init(docType: id, elements: elements))
    }
    let picks = definition["submission_requirements"]?.array?.contains { $0["rule"]?.string == "pick" } ?? false
    alternatives = picks ? queries.indices.map { [$0] } : [Array(queries.indices)]
  }
}
