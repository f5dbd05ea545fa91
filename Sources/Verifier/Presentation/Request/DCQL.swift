import Base
import Mdoc

/// A relying party's request in the Digital Credentials Query Language (OpenID4VP 1.0, 6), for mdocs (B.2.3 there).
///
/// What comes back is checked against the request itself: a query only tells the wallet what to offer.
public struct DCQLQuery: Sendable, Hashable {
  /// `dcql_query`.
  public let json: JSON

  /// - Parameter trustedAuthorities: key identifiers of issuing authorities whose documents alone are worth offering
  ///   (6.1.1.1); any where it is empty.
  public init(_ request: PresentationRequest, trustedAuthorities: [[UInt8]] = []) {
    let authorities: JSON? =
      trustedAuthorities.isEmpty
      ? nil : [["type": "aki", "values": .array(trustedAuthorities.map { .string(Base64.encodeURLSafe($0)) })]]
    let credentials = request.documents.enumerated().map { Self.credential($1, at: $0, authorities: authorities) }
    // Without credential_sets every credential is asked for.
    let isChoice = request.documents.count > 1 && !request.requiresAllDocuments
    let options = request.documents.indices.map { JSON.array([.string(Self.credentialID($0))]) }
    json = .members([
      "credentials": .array(credentials),
      "credential_sets": isChoice ? [["options": .array(options)]] : nil,
    ])
  }

  /// The id of the query for a document, by its place in the request.
  public static func credentialID(_ index: Int) -> String { "document_\(index)" }

  private static func credential(_ document: DocumentRequest, at index: Int, authorities: JSON?) -> JSON {
    let elements = document.namedElements
    let hasOptional = elements.contains { !$0.isRequired }
    let claims = elements.enumerated().map { place, wanted -> JSON in
      .members([
        "id": hasOptional ? .string(claimID(place)) : nil,
        "path": [.string(wanted.element.namespace), .string(wanted.element.identifier)],
        "intent_to_retain": .bool(wanted.intentToRetain),
      ])
    }
    return .members([
      "id": .string(credentialID(index)), "format": "mso_mdoc",
      "meta": ["doctype_value": .string(document.docType)],
      "trusted_authorities": authorities,
      "claims": claims.isEmpty ? nil : .array(claims),
      "claim_sets": hasOptional ? .array(claimSets(elements)) : nil,
    ])
  }

  /// Everything, or else what must come; where nothing must, any one element, since a set is not empty.
  private static func claimSets(_ elements: [ElementRequest]) -> [JSON] {
    let required = elements.indices.filter { elements[$0].isRequired }
    let fallbacks = required.isEmpty ? elements.indices.map { [$0] } : [required]
    let all = Array(elements.indices)
    return ([all] + fallbacks.filter { $0 != all }).map { .array($0.map { .string(claimID($0)) }) }
  }

  private static func claimID(_ index: Int) -> String { "element_\(index)" }
}
