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

  var queries: [Query] = []
  /// Sets of positions in `queries`, in the order of preference. One of these sets is to be answered as a whole.
  var alternatives: [[Int]] = []
  /// The version of a DeviceRequest.
  var version = "1.1"
  /// Whether the request itself says which sets are enough.
  var namesSets = true

  /// The whole request, in the form of the mock wallet.
  var request: MockRequest { MockRequest(documents: queries.map(\.document)) }

  /// The documents with the elements that `request` has. Documents that `request` lacks are left out.
  func restricted(to request: MockRequest?) -> AskedDocuments {
    guard let request else { return self }
    func agreed(_ asked: MockRequest.Document) -> MockRequest.Document? {
      request.documents.filter { $0.docType == asked.docType }.dropFirst(asked.copy).first
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

  /// The queries of the first set that the wallet can answer in full. If there is none, it takes the first set whose
  /// document types it has, and returns what they hold: the verifier's refusal shows.
  ///
  /// - Throws: `MockError.noRequestedDocument` if it has nothing of the first set either.
  func chosen(by wallet: MockWallet, at now: Timestamp) throws -> [Query] {
    let held = queries.map { wallet.canAnswer($0.document) }
    let full = queries.map { wallet.satisfying($0, at: now) }
    let whole =
      alternatives.first { set in !set.isEmpty && set.allSatisfy { full[$0] != nil } }
      ?? alternatives.first { set in !set.isEmpty && set.allSatisfy { held[$0] } }
    let positions = whole ?? (alternatives.first ?? []).filter { held[$0] }
    guard !positions.isEmpty else {
      throw MockError.noRequestedDocument(queries.map(\.document.docType))
    }
    return positions.map { full[$0] ?? queries[$0] }
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
      let substitutes = items[key: "requestInfo"]?[key: "alternativeDataElements"]?.elements.map(Array.init) ?? []
      asked.substitutes = substitutes.compactMap { entry in
        entry[key: "requestedElement"].flatMap(Self.element).map { requested in
          let sets = entry[key: "alternativeElementSets"]?.elements.map(Array.init) ?? []
          return (requested, sets.map { ($0.elements.map(Array.init) ?? []).compactMap(Self.element) })
        }
      }
      return Query(id: "", document: asked)
    }
    version = request[key: "version"]?.text ?? ""
    let useCases = request[key: "deviceRequestInfo"]?.embedded?[key: "useCases"]?.elements.map(Array.init)
    namesSets = useCases != nil
    // In the second edition, one document set of each mandatory use case is to be answered.
    alternatives = product(
      (useCases ?? []).filter { $0[key: "mandatory"]?.bool == true }.map { useCase in
        (useCase[key: "documentSets"]?.elements.map(Array.init) ?? []).map { set in
          (set.elements.map(Array.init) ?? []).compactMap { $0.unsigned.flatMap(Int.init(exactly:)) }
        }
      })
  }

  /// `[NameSpace, DataElementIdentifier]`.
  private static func element(_ item: CBORItem) -> MockRequest.Document.Element? {
    let parts = item.elements?.compactMap(\.text) ?? []
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  /// Every way to take one of each group's sets; all queries where there is no group. Sets with positions that no query
  /// has are left out.
  private func product(_ groups: [[[Int]]]) -> [[Int]] {
    guard !groups.isEmpty else { return [Array(queries.indices)] }
    return groups.reduce([[]]) { found, sets in
      let known = sets.filter { $0.allSatisfy(queries.indices.contains) }
      return Array(
        found.flatMap { chosen in known.map { set in chosen + set.filter { !chosen.contains($0) } } }.prefix(256))
    }
  }

  /// Those of the circuits that there are; others are passed over, as wallets pass them over.
  private static func circuits(named hashes: [String?]) -> [KnownCircuit] {
    hashes.compactMap { hash in KnownCircuit.all.first { $0.hash == hash } }
  }
}

extension MockWallet {
  /// The query with the elements by which the wallet's document answers it in full; nil if it lacks one. The nearest
  /// attestation of an age stands for the one that is asked for.
  func satisfying(_ query: AskedDocuments.Query, at now: Timestamp) -> AskedDocuments.Query? {
    guard canAnswer(query.document) else { return nil }
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
    queries = try credentials.map(Self.query)
    // The second query for a type is answered by the wallet's second document of it.
    for index in queries.indices {
      queries[index].document.copy = queries[..<index].count {
        $0.document.docType == queries[index].document.docType
          && $0.document.requiresProof == queries[index].document.requiresProof
      }
    }
    // Without sets every query is to be answered; with them one option of each set that is required.
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
    guard let id = credential["id"]?.string, let format = credential["format"]?.string,
      ["mso_mdoc", "mso_mdoc_zk"].contains(format), let docType = credential["meta"]?["doctype_value"]?.string
    else { throw MockError.unreadableRequest("a credential query is none for an mdoc") }
    let claims = (credential["claims"]?.array ?? []).compactMap {
      claim -> (id: String?, element: MockRequest.Document.Element)? in
      let path = (claim["path"]?.array ?? []).compactMap(\.string)
      return path.count == 2 ? (id: claim["id"]?.string, element: (namespace: path[0], identifier: path[1])) : nil
    }
    var asked = MockRequest.Document(docType: docType, elements: claims.map(\.element))
    asked.claimSets = (credential["claim_sets"]?.array ?? []).map { set in
      (set.array ?? []).compactMap { id in claims.first { $0.id == id.string }?.element }
    }
    asked.requiresProof = format == "mso_mdoc_zk"
    let specs = credential["meta"]?["zk_system_type"]?.array ?? []
    asked.circuits = Self.circuits(named: specs.map { $0["circuit_hash"]?.string })
    return Query(id: id, document: asked)
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
