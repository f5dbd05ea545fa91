import Base
import CBOR
import Longfellow

/// The documents of a request, as the wallet reads it, and the sets of documents that satisfy it.
struct RequestedDocuments: Sendable {
  struct Query: Sendable {
    /// The credential query's id (OpenID4VP 1.0, 6.1); empty if the protocol has none.
    let id: String
    var document: MockRequest.Document
  }

  var queries: [Query] = []
  /// Sets of indices in `queries`, in the order of preference. A response has all documents of one set.
  var alternatives: [[Int]] = []
  /// The version of a DeviceRequest.
  var version = "1.1"
  /// True if the request itself specifies sets of documents.
  var namesSets = true

  var request: MockRequest { MockRequest(documents: queries.map(\.document)) }

  /// The documents and elements that are also in `request`; all if `request` is nil.
  func restricted(to request: MockRequest?) -> RequestedDocuments {
    guard let request else { return self }
    func agreed(_ document: MockRequest.Document) -> MockRequest.Document? {
      request.documents.filter { $0.docType == document.docType }.dropFirst(document.copy).first
    }
    let kept = queries.indices.filter { agreed(queries[$0].document) != nil }
    var copy = self
    copy.queries = kept.map { index in
      var query = queries[index]
      if let agreed = agreed(query.document) {
        query.document.elements = agreed.elements
        (query.document.substitutes, query.document.claimSets) = ([], [])
        query.document.ageOver = agreed.ageOver
      }
      return query
    }
    copy.alternatives = alternatives.map { set in set.compactMap { kept.firstIndex(of: $0) } }.filter { !$0.isEmpty }
    return copy
  }

  /// Returns the queries of the first set that the wallet satisfies in full. If the wallet satisfies no set, returns
  /// the first set whose document types it has, so that a rejection can be tested. Otherwise returns the wallet's
  /// documents of the first set.
  ///
  /// - Parameter inFull: true if the wallet refuses a request that it cannot satisfy in full.
  /// - Throws: `MockError.noRequestedDocument` if the wallet has none of the documents, or refuses.
  func chosen(by wallet: MockWallet, inFull: Bool = false, at now: Timestamp) throws -> [Query] {
    let held = queries.map { wallet.holds($0.document) }
    let full = queries.map { wallet.satisfying($0, at: now) }
    let satisfied = alternatives.first { set in !set.isEmpty && set.allSatisfy { full[$0] != nil } }
    let whole =
      satisfied ?? (inFull ? [] : alternatives.first { set in !set.isEmpty && set.allSatisfy { held[$0] } })
    let positions = whole ?? (alternatives.first ?? []).filter { held[$0] }
    guard !positions.isEmpty else { throw MockError.noRequestedDocument(queries.map(\.document.docType)) }
    return positions.map { full[$0] ?? queries[$0] }
  }
}

// MARK: ISO/IEC 18013-5, 8.3.2.1.2.1

extension RequestedDocuments {
  /// - Parameter deviceRequest: base64url of a DeviceRequest.
  init(deviceRequest text: String) throws {
    guard let bytes = Base64.decodeURLSafe(text), let request = try? CBORItem(parsing: bytes),
      let documents = request[key: "docRequests"]?.elements
    else { throw MockError.unreadableRequest("deviceRequest is malformed") }
    queries = try documents.map { document in
      guard let items = document[key: "itemsRequest"]?.embedded, let docType = items[key: "docType"]?.text,
        let namespaces = items[key: "nameSpaces"]?.entries
      else { throw MockError.unreadableRequest("itemsRequest is malformed") }
      let elements = namespaces.flatMap { namespace, identifiers in
        (identifiers.entries.map(Array.init) ?? []).map { (namespace.text ?? "", $0.key.text ?? "") }
      }
      var requested = MockRequest.Document(docType: docType, elements: elements)
      if let proofs = items[key: "requestInfo"]?[key: "zkRequest"] {
        let specs = proofs[key: "systemSpecs"]?.items ?? []
        requested.circuits = Self.circuits(named: specs.map { $0[key: "params"]?[key: "circuit_hash"]?.text })
        requested.requiresProof = proofs[key: "zkRequired"]?.bool == true
      }
      let substitutes = items[key: "requestInfo"]?[key: "alternativeDataElements"]?.items ?? []
      requested.substitutes = substitutes.compactMap { entry in
        entry[key: "requestedElement"].flatMap(Self.element).map { requested in
          let sets = entry[key: "alternativeElementSets"]?.items ?? []
          return (requested, sets.map { $0.items.compactMap(Self.element) })
        }
      }
      return Query(id: "", document: requested)
    }
    version = request[key: "version"]?.text ?? ""
    let useCases = request[key: "deviceRequestInfo"]?.embedded?[key: "useCases"]?.items
    namesSets = useCases != nil
    // In the second edition, a response has one document set for each mandatory use case.
    alternatives = product(
      (useCases ?? []).filter { $0[key: "mandatory"]?.bool == true }.map { useCase in
        (useCase[key: "documentSets"]?.items ?? []).map { set in
          set.items.compactMap { $0.unsigned.flatMap(Int.init(exactly:)) }
        }
      })
  }

  /// `[NameSpace, DataElementIdentifier]`.
  private static func element(_ item: CBORItem) -> MockRequest.Document.Element? {
    let parts = item.elements?.compactMap(\.text) ?? []
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  /// Every combination of one set from each group. Sets with unknown indices are omitted. Without groups, the only
  /// combination is all queries.
  private func product(_ groups: [[[Int]]]) -> [[Int]] {
    guard !groups.isEmpty else { return [Array(queries.indices)] }
    return groups.reduce([[]]) { found, sets in
      let known = sets.filter { $0.allSatisfy(queries.indices.contains) }
      return Array(
        found.flatMap { chosen in known.map { set in chosen + set.filter { !chosen.contains($0) } } }.prefix(256))
    }
  }

  /// The known circuits. Wallets ignore others.
  private static func circuits(named hashes: [String?]) -> [KnownCircuit] {
    hashes.compactMap { hash in KnownCircuit.all.first { $0.hash == hash } }
  }
}

extension CBORItem {
  /// The elements of an array; none for any other item.
  fileprivate var items: [CBORItem] { elements.map(Array.init) ?? [] }
}

extension MockWallet {
  /// The query with the elements of a full response, including the nearest age attestations; nil if the document lacks
  /// an element.
  func satisfying(_ query: RequestedDocuments.Query, at now: Timestamp) -> RequestedDocuments.Query? {
    guard holds(query.document) else { return nil }
    let data = document(for: query.document)?.data.attestingAges(on: now.date)
    var copy = query
    let elements = query.document.satisfied { element in
      guard let threshold = ageThreshold(of: element.identifier) else {
        return data?[element.namespace, element.identifier] != nil
      }
      let namespace = data?.namespaces.first { $0.name == element.namespace }
      return nearestAgeAttestation(to: threshold, in: namespace?.elements ?? []) != nil
    }
    guard let elements else { return nil }
    copy.document.elements = elements
    return copy
  }

  /// True if the wallet has the document. If only a proof is accepted, the wallet must also be able to make this proof.
  func holds(_ document: MockRequest.Document) -> Bool {
    documents.contains { $0.docType == document.docType }
      && (!document.requiresProof || prover?.canProve(document) == true)
  }
}

// MARK: OpenID4VP 1.0, 6

extension RequestedDocuments {
  init(dcql: JSON) throws {
    guard let credentials = dcql["credentials"]?.array, !credentials.isEmpty else {
      throw MockError.unreadableRequest("dcql_query has no credentials")
    }
    queries = try credentials.map(Self.query)
    // The second query for a type gets the wallet's second document of this type.
    for index in queries.indices {
      queries[index].document.copy = queries[..<index].count {
        $0.document.docType == queries[index].document.docType
          && $0.document.requiresProof == queries[index].document.requiresProof
      }
    }
    // Without sets, a response satisfies every query. With sets, it satisfies one option of each required set.
    let sets = dcql["credential_sets"]?.array
    namesSets = sets != nil
    alternatives = product(
      (sets ?? []).filter { $0["required"]?.bool != false }.map { set in
        (set["options"]?.array ?? []).map { option in
          (option.array ?? []).compactMap { name in queries.firstIndex { $0.id == name.string } }
        }
      })
  }

  private static func query(_ credential: JSON) throws -> Query {
    guard let id = credential["id"]?.string, let format = credential["format"]?.string else {
      throw MockError.unreadableRequest("a credential query has no id or format")
    }
    // The wallet has no document of another format.
    guard ["mso_mdoc", "mso_mdoc_zk"].contains(format) else {
      return Query(id: id, document: .init(docType: format, elements: []))
    }
    guard let docType = credential["meta"]?["doctype_value"]?.string else {
      throw MockError.unreadableRequest("a credential query for an mdoc has no doctype_value")
    }
    let claims = (credential["claims"]?.array ?? []).compactMap {
      claim -> (id: String?, element: MockRequest.Document.Element)? in
      let path = (claim["path"]?.array ?? []).compactMap(\.string)
      return path.count == 2 ? (id: claim["id"]?.string, element: (namespace: path[0], identifier: path[1])) : nil
    }
    var requested = MockRequest.Document(docType: docType, elements: claims.map(\.element))
    requested.claimSets = (credential["claim_sets"]?.array ?? []).map { set in
      (set.array ?? []).compactMap { id in claims.first { $0.id == id.string }?.element }
    }
    requested.requiresProof = format == "mso_mdoc_zk"
    let specs = credential["meta"]?["zk_system_type"]?.array ?? []
    requested.circuits = Self.circuits(named: specs.map { $0["circuit_hash"]?.string })
    return Query(id: id, document: requested)
  }

  // MARK: ISO/IEC TS 18013-7, B.3.2

  /// Reads Presentation Exchange. A descriptor's id is a document type. A requirement with the rule `pick` accepts any
  /// one document.
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
        let parts = (field["path"]?.array?.first?.string ?? "").split(separator: "'", omittingEmptySubsequences: false)
        return parts.count == 5 ? (String(parts[1]), String(parts[3])) : nil
      }
      return Query(id: id, document: .init(docType: id, elements: elements))
    }
    let picks = definition["submission_requirements"]?.array?.contains { $0["rule"]?.string == "pick" } ?? false
    alternatives = picks ? queries.indices.map { [$0] } : [Array(queries.indices)]
  }
}
