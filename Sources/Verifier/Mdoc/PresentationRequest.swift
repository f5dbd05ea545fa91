/// A relying party's request, independent of the protocol.
public struct PresentationRequest: Sendable, Hashable {
  /// The requested documents. Any one of them satisfies the request, unless `requiresAllDocuments` is set. Only a
  /// protocol with an id for each document (OpenID4VP 1.0) distinguishes two documents of one type.
  public var documents: [DocumentRequest]
  public var requiresAllDocuments: Bool
  /// The purpose that a wallet may show the person.
  public var purposeHint: PurposeHint?

  public init(documents: [DocumentRequest], requiresAllDocuments: Bool = false) {
    self.documents = documents
    self.requiresAllDocuments = requiresAllDocuments
  }

  func document(ofType docType: String) -> DocumentRequest? {
    documents.first { $0.docType.hasSameBytes(as: docType) }
  }
}

/// The purpose of a request (ISO/IEC 18013-5, second edition, 10.2.5), by the number in `purposeHints`.
public enum PurposeHint: Int64, Sendable, Hashable, CaseIterable { case identity = 1, driving, age }

/// A request for one document.
public struct DocumentRequest: Sendable, Hashable {
  public var docType: String
  public var elements: [ElementRequest]
  /// Thresholds NN of "is at least NN years old", at most two (ISO/IEC 18013-5:2021, 7.2.5).
  public var ageOver: [Int]
  /// A threshold that the person must have reached for the document to be accepted.
  public var minimumAge: Int?
  /// Whether a document is accepted, with a warning, after the day of its own `expiry_date`. The issuer's signature may
  /// be valid for longer, but an expired licence or passport identifies nobody.
  public var acceptsExpired = false
  /// The accepted zero-knowledge proofs; nil if only a plain document is accepted.
  public var proofs: ProofRequest?

  public init(docType: String, elements: [ElementRequest], ageOver: [Int] = [], minimumAge: Int? = nil) {
    self.docType = docType
    self.elements = elements
    self.ageOver = ageOver
    self.minimumAge = minimumAge
  }

  /// All age thresholds, including the minimum age, ascending.
  public var ageThresholds: [Int] {
    var thresholds = ageOver
    if let minimumAge, !thresholds.contains(minimumAge) { thresholds.append(minimumAge) }
    return thresholds.count > 1 ? Set(thresholds).sorted() : thresholds
  }

  /// Every element that a protocol requests by name, once. First come the elements, then `age_over_NN` for each
  /// threshold, in the document type's age namespace.
  public var namedElements: [ElementRequest] {
    let ages = ageThresholds.map { ElementRequest(ElementReference.ageAttestation($0, ofDocType: docType)) }
    var indices: [ElementReference: Int] = [:]
    var named: [ElementRequest] = []
    for request in elements + ages {
      if let index = indices[request.element] {
        // A duplicate is retained if either request retains it, for the shorter time. It is required if either requires
        // it.
        named[index].retention = Retention.strictest(
          of: [named[index].retention, request.retention].filter(\.isIntended))
        named[index].isRequired = named[index].isRequired || request.isRequired
      } else {
        indices[request.element] = named.count
        named.append(request)
      }
    }
    return named
  }

  /// The period for which the relying party may retain the element. It is the strictest of its own period and the
  /// periods of all elements that it may replace. An age threshold sets no period.
  package func retention(of reference: ElementReference) -> Retention {
    var named: Retention?
    var represented: Retention?
    // Use indices: a loop over the requests copies each one and counts its references.
    for index in elements.indices {
      let retention = elements[index].retention
      if elements[index].element.hasLength(of: reference), elements[index].element == reference {
        // A duplicate is retained if either request retains it.
        let isKeptTwice = named?.isIntended == true && retention.isIntended
        named = isKeptTwice ? named.map { min($0, retention) } : max(named ?? .none, retention)
      }
      if !elements[index].alternatives.isEmpty, elements[index].alternatives.contains(reference) {
        represented = represented.map { min($0, retention) } ?? retention
      }
    }
    guard let named else { return represented ?? .none }
    return represented.map { min($0, named) } ?? named
  }
}

/// One requested data element.
public struct ElementRequest: Sendable, Hashable {
  public var element: ElementReference
  /// The period for which the relying party intends to retain the value.
  public var retention: Retention
  /// Whether a document without this element is rejected. For many elements, absence means "no".
  public var isRequired: Bool
  /// Elements that satisfy the request instead of this element. The returned alternatives are part of the accepted
  /// presentation.
  public var alternatives: [ElementReference]

  public init(
    _ element: ElementReference, retention: Retention, isRequired: Bool = true, alternatives: [ElementReference] = []
  ) {
    self.element = element
    self.retention = retention
    self.isRequired = isRequired
    self.alternatives = alternatives
  }

  public init(
    _ element: ElementReference, intentToRetain: Bool = false, isRequired: Bool = true,
    alternatives: [ElementReference] = []
  ) {
    self.init(
      element, retention: intentToRetain ? .unspecified : .none, isRequired: isRequired, alternatives: alternatives)
  }

  /// IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1).
  public var intentToRetain: Bool { retention.isIntended }
}

/// The period for which a relying party intends to retain a value. The stricter of two retentions compares as less.
public enum Retention: Sendable, Hashable, Comparable {
  /// Not at all.
  case none
  /// Retention for this number of days, at least one.
  case days(Int)
  /// Retention for an unspecified time.
  case unspecified

  /// IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1), which has no number of days.
  public var isIntended: Bool { self != .none }

  /// The strictest of the retentions, which satisfies all of them. `none` if the list is empty.
  static func strictest(of retentions: [Retention]) -> Retention { retentions.min() ?? .none }
}
