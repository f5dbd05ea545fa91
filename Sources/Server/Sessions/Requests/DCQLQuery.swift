import Base
import Mdoc
import Presentation

/// A DCQL query (OpenID4VP 1.0, 6) that another stack sent. Any query that a `PresentationRequest` cannot express is
/// refused, so that no condition remains unchecked.
package struct DCQLQuery: Equatable, Sendable {
  struct Credential: Equatable, Sendable {
    struct Claim: Equatable, Sendable {
      let id: String?
      let path: [String]
      let intentToRetain: Bool
    }

    let id: String
    let docType: String
    let claims: [Claim]
    let claimSets: [[String]]
  }

  struct CredentialSet: Equatable, Sendable {
    let options: [[String]]
  }

  let credentials: [Credential]
  let credentialSets: [CredentialSet]

  package static let shape = Shape<DCQLQuery>.object(
    "DCQLQuery", "A DCQL query (OpenID4VP 1.0, 6) for mdocs.", DCQLQuery.init,
    Field("credentials", \.credentials, credential.list(1...Limits.requestedDocuments), "The requested documents."),
    .optional(
      "credential_sets", \.credentialSets, credentialSet.list(1...1), or: [],
      "One set. Either each option lists one credential, or the only option lists all. By default, all are required."))

  private static let name = Shape<String>.text()
  private static let format = "mso_mdoc"

  private static let claim = Shape<Credential.Claim>.object(
    "DCQLClaim", "An element.", Credential.Claim.init,
    .optional("id", \.id, name, "The claim's name in `claim_sets`."),
    Field("path", \.path, name.list(2...2), "The element's namespace and identifier."),
    .optional("intent_to_retain", \.intentToRetain, .flag, or: false, "Whether you retain the value."))

  private static let meta = Shape<String>.object(
    "DCQLMeta", "The document's type.", { $0 }, Field("doctype_value", { $0 }, name, "The document type."))

  private static let credential = Shape<Credential>.object(
    "DCQLCredential", "A requested document.",
    { id, _, docType, claims, sets, _, _ in
      Credential(id: id, docType: docType, claims: claims, claimSets: sets)
    },
    Field("id", \.id, name, "The credential's name in `credential_sets`."),
    Field("format", { _ in format }, .choice("DCQLFormat", "`mso_mdoc`.", of: [(format, format)]), "`mso_mdoc`."),
    Field("meta", \.docType, meta, "The document's type."),
    Field("claims", \.claims, claim.list(1...Limits.requestedElements), "The elements."),
    .optional(
      "claim_sets", \.claimSets, name.list(1...Limits.requestedElements).list(1...Limits.requestedElements), or: [],
      "Sets of claims, one of which suffices. They must be alternatives of single claims, or contain each other."),
    only(false, as: "multiple", "Must be false: one document is returned for a credential."),
    only(true, as: "require_cryptographic_holder_binding", "The device must authenticate."))

  private static let credentialSet = Shape<CredentialSet>.object(
    "DCQLCredentialSet", "Options, one of which suffices.", { options, _ in CredentialSet(options: options) },
    Field(
      "options", \.options, name.list(1...Limits.requestedDocuments).list(1...Limits.requestedDocuments), "Options."),
    only(true, as: "required", "The set must be satisfied."))

  /// A member whose default is the only supported value.
  private static func only<Root>(_ value: Bool, as name: String, _ summary: String) -> Field<Root, Bool> {
    let get: @Sendable (Root) -> Bool = { _ in value }
    let form = Shape<Bool>.flag.checked("must be \(value), the only supported value") { $0 == value }
    return .optional(name, get, form, or: value, summary)
  }
}

extension DCQLQuery {
  /// The protocols whose requests are queries. A query identifies each document.
  static let protocols = [OpenID4VPWebProtocol(.unsigned).name]

  /// Converts the query to the API's form. If that form cannot express it, records the faults and returns nil.
  func input(at pointer: String, _ faults: inout Faults) -> PresentationInput? {
    let ids = credentials.map(\.id)
    if Set(ids).count < ids.count { faults.add(pointer + "/credentials", "must not have duplicate ids") }
    let options = credentialSets.first?.options ?? [ids]
    let isAll = options.count == 1 && Set(options[0]) == Set(ids)
    let isAny = options.allSatisfy { $0.count == 1 } && Set(options.flatMap { $0 }) == Set(ids)
    if !isAll, !isAny {
      faults.add(
        pointer + "/credential_sets/0/options", "must each list one credential, or be one option that lists all")
    }
    let documents = credentials.enumerated().compactMap { index, credential in
      credential.document(at: "\(pointer)/credentials/\(index)", &faults)
    }
    return PresentationInput(documents: documents, requiresAllDocuments: isAll && ids.count > 1)
  }
}

extension DCQLQuery.Credential {
  fileprivate func document(at pointer: String, _ faults: inout Faults) -> DocumentInput? {
    guard let sets = chosen(at: pointer, &faults) else { return nil }
    let shared = claims.filter { claim in sets.allSatisfy { $0.contains(claim) } }
    if let smallest = sets.min(by: { $0.count < $1.count }), smallest.count == shared.count {
      let wanted = claims.filter { claim in sets.contains { $0.contains(claim) } }
      return document(wanted.map { $0.element(isRequired: shared.contains($0)) })
    }
    // Otherwise, each position must have alternative claims, and the sets must be all combinations of them.
    let width = sets[0].count
    let columns = (0..<width).map { position in
      sets.reduce(into: [Claim]()) { column, set in
        if set.count == width, !column.contains(set[position]) { column.append(set[position]) }
      }
    }
    let combinations = columns.reduce(1) { $0.multipliedReportingOverflow(by: $1.count).partialValue }
    let isProduct = sets.allSatisfy { $0.count == width } && combinations == sets.count
    guard isProduct, Set(columns.flatMap { $0.map(\.path) }).count == columns.reduce(0, { $0 + $1.count }) else {
      faults.add(
        pointer + "/claim_sets", "must be alternatives of single claims, or contain each other: use `request` instead")
      return nil
    }
    return document(
      columns.map { column in
        column[0].element(or: column.dropFirst().map { ElementReference($0.path[0], $0.path[1]) })
      })
  }

  /// The claims of each set; without sets, all claims.
  private func chosen(at pointer: String, _ faults: inout Faults) -> [[Claim]]? {
    guard !claimSets.isEmpty else { return [claims] }
    var sets: [[Claim]] = []
    for (index, set) in claimSets.enumerated() {
      let found = set.compactMap { id in claims.first { $0.id == id } }
      guard found.count == set.count, Set(set).count == set.count else {
        faults.add("\(pointer)/claim_sets/\(index)", "must list claims of this credential, each once")
        return nil
      }
      if sets.contains(where: { Set($0.map(\.path)) == Set(found.map(\.path)) }) { continue }
      sets.append(found)
    }
    return sets
  }

  private func document(_ elements: [ElementInput]) -> DocumentInput {
    DocumentInput(
      docType: docType, elements: elements, ageOver: [], minimumAge: nil, acceptsExpired: false, retainDays: nil,
      proofs: .off)
  }
}

extension DCQLQuery.Credential.Claim {
  fileprivate func element(isRequired: Bool = true, or alternatives: [ElementReference] = []) -> ElementInput {
    ElementInput(
      namespace: path[0], identifier: path[1], appleElement: nil, intentToRetain: intentToRetain, retainDays: nil,
      isRequired: isRequired, alternatives: alternatives)
  }
}

extension PresentationInput {
  /// The request of a DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1): every element of every document.
  init?(deviceRequest bytes: [UInt8], at pointer: String, _ faults: inout Faults) {
    let requested: [DeviceRequest.RequestedDocument]
    do throws(DeviceRequestError) { requested = try DeviceRequest.documents(requestedBy: bytes) } catch {
      faults.add(pointer, "is not a supported DeviceRequest: \(error.detail)")
      return nil
    }
    let documents = requested.map { document in
      DocumentInput(
        docType: document.docType,
        elements: document.elements.map { element, intent in
          ElementInput(
            namespace: element.namespace, identifier: element.identifier, appleElement: nil, intentToRetain: intent,
            retainDays: nil, isRequired: true, alternatives: [])
        }, ageOver: [], minimumAge: nil, acceptsExpired: false, retainDays: nil, proofs: .off)
    }
    self.init(documents: documents, requiresAllDocuments: documents.count > 1)
  }
}
