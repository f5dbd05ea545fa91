/// What a relying party asks for, independent of the protocol that carries it.
public struct PresentationRequest: Sendable, Hashable {
  /// The documents asked for. Any one of them satisfies the request, unless `requiresAllDocuments` is set. Two of one type
  /// are told apart only by a protocol that has an id for each (OpenID4VP 1.0).
  public var documents: [DocumentRequest]
  public var requiresAllDocuments: Bool
  /// What a wallet may tell the person about the purpose; nil for nothing.
  public var purposeHint: PurposeHint?

  public init(documents: [DocumentRequest], requiresAllDocuments: Bool = false) {
    self.documents = documents
    self.requiresAllDocuments = requiresAllDocuments
  }
}

/// Why a relying party asks (ISO/IEC 18013-5, second edition, 10.2.5), by the number in `purposeHints`.
public enum PurposeHint: Int64, Sendable, Hashable, CaseIterable { case identity = 1, driving, age }

/// What is asked of one document.
public struct DocumentRequest: Sendable, Hashable {
  public var docType: String
  public var elements: [ElementRequest]
  /// Thresholds NN of "is at least NN years old", at most two (ISO/IEC 18013-5:2021, 7.2.5).
  public var ageOver: [Int]
  /// A threshold whose answer must be yes for the document to be accepted.
  public var minimumAge: Int?
  /// Whether a document is accepted, with a warning, after the day of its own `expiry_date`. The issuer's signature may
  /// outlast that day, but an expired licence or passport identifies nobody.
  public var acceptsExpired = false
  /// The zero-knowledge proofs that may answer; nil if only a plain document may.
  public var proofs: ProofRequest?

  public init(docType: String, elements: [ElementRequest], ageOver: [Int] = [], minimumAge: Int? = nil) {
    self.docType = docType
    self.elements = elements
    self.ageOver = ageOver
    self.minimumAge = minimumAge
  }

  /// All thresholds that need an answer, the minimum age included, ascending.
  public var ageThresholds: [Int] {
    var thresholds = ageOver
    if let minimumAge, !thresholds.contains(minimumAge) { thresholds.append(minimumAge) }
    return thresholds.count > 1 ? Set(thresholds).sorted() : thresholds
  }

  /// Everything that a protocol has to ask for by name, each element once: the elements, then `age_over_NN` for each
  /// threshold, in the namespace in which the answer is looked for.
  public var namedElements: [ElementRequest] {
    let namespace = DocTypeCatalogue.ageNamespace(ofDocType: docType)
    let ages = ageThresholds.map {
      ElementRequest(ElementReference(namespace, AgeAttestations.identifier(for: $0)))
    }
    var places: [ElementReference: Int] = [:]
    var named: [ElementRequest] = []
    for request in elements + ages {
      if let place = places[request.element] {
        // The element is requested twice. It is kept if either request keeps it, for the shorter time, and it is
        // required if either requires it.
        named[place].retention = Retention.strictest(
          of: [named[place].retention, request.retention].filter(\.isIntended))
        named[place].isRequired = named[place].isRequired || request.isRequired
      } else {
        places[request.element] = named.count
        named.append(request)
      }
    }
    return named
  }

  /// How long the relying party may keep the element: the strictest of the periods that it gave for the element by
  /// name, and for every element that has this one as an alternative. An age threshold alone gives no period.
  package func retention(of reference: ElementReference) -> Retention {
    let named = elements.filter { $0.element == reference }.map(\.retention)
    let represented = elements.filter { $0.alternatives.contains(reference) }.map(\.retention)
    guard !named.isEmpty else { return .strictest(of: represented) }
    return .strictest(of: [.strictest(of: named.filter(\.isIntended))] + represented)
  }
}

/// One requested data element.
public struct ElementRequest: Sendable, Hashable {
  public var element: ElementReference
  /// Whether the relying party means to keep the value, and for how long.
  public var retention: Retention
  /// Whether a document without it is refused. For many elements, absence means "no".
  public var isRequired: Bool
  /// Elements that satisfy the request in place of this one. Those that the wallet returns are part of the accepted
  /// answer.
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

  /// Whether the value is to be kept: IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1).
  public var intentToRetain: Bool { retention.isIntended }
}

/// How long a relying party means to keep a value after it has seen it. The stricter of two compares as less.
public enum Retention: Sendable, Hashable, Comparable {
  /// Not at all.
  case none
  /// For this many days, at least one.
  case days(Int)
  /// It is kept for a time that is not stated.
  case unspecified

  /// IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1), which has no number of days.
  public var isIntended: Bool { self != .none }

  /// The strictest of the retentions, which all of them allow; `none` if there are none.
  static func strictest(of retentions: [Retention]) -> Retention { retentions.min() ?? .none }
}
