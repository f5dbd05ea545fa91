import Base
import CBOR

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
      query.document = request.documents.first { $0.docType == query.document.docType } ?? query.document
      return query
    }
    copy.alternatives = alternatives.map { set in set.compactMap { kept.firstIndex(of: $0) } }.filter { !$0.isEmpty }
    return copy
  }

  /// The queries of the first set that the wallet has in full. If it has none in full, those of the first set that it
  /// has.
  ///
  /// - Throws: `MockError.noRequestedDocument` if it has nothing of the first set either.
  func chosen(holding docTypes: Set<String>) throws -> [Query] {
    func held(_ set: [Int]) -> [Int] {
      set.filter { queries.indices.contains($0) && docTypes.contains(queries[$0].document.docType) }
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
      return Query(id: "", document: .init(docType: docType, elements: elements))
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

// MARK: OpenID4VP 1.0, 6

extension AskedDocuments {
  init(dcql: JSON) throws {
    guard let credentials = dcql["credentials"]?.array, !credentials.isEmpty else {
      throw MockError.unreadableRequest("dcql_query has no credentials")
    }
    queries = try credentials.map { credential in
      guard let id = credential["id"]?.string, credential["format"]?.string == "mso_mdoc",
        let docType = credential["meta"]?["doctype_value"]?.string
      else { throw MockError.unreadableRequest("a credential query is none for an mdoc") }
      let elements = (credential["claims"]?.array ?? []).compactMap { claim -> (String, String)? in
        let path = (claim["path"]?.array ?? []).compactMap(\.string)
        return path.count == 2 ? (path[0], path[1]) : nil
      }
      return Query(id: id, document: .init(docType: docType, elements: elements))
    }
    alternatives = [Array(queries.indices)]
    // A verifier of this project makes one credential set, or none if every query is to be answered.
    if let options = dcql["credential_sets"]?.array?.first?["options"]?.array {
      alternatives = options.map { option in
        (option.array ?? []).compactMap { name in queries.firstIndex { $0.id == name.string } }
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
