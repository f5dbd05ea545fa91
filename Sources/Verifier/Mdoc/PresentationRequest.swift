/// What a relying party asks for, independent of the protocol that carries it.
public struct PresentationRequest: Sendable, Hashable {
  /// Any one of them satisfies the request, unless all are required.
  public var documents: [DocumentRequest]
  public var requiresAllDocuments: Bool

  public init(documents: [DocumentRequest], requiresAllDocuments: Bool = false) {
    self.documents = documents
    self.requiresAllDocuments = requiresAllDocuments
  }
}

/// What is asked of one document.
public struct DocumentRequest: Sendable, Hashable {
  public var docType: String
  public var elements: [ElementRequest]
  /// Thresholds NN of "is at least NN years old", at most two (ISO/IEC 18013-5:2021, 7.2.5).
  public var ageOver: [Int]
  /// A threshold whose answer must be yes for the document to be accepted.
  public var minimumAge: Int?

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
        // What holds of one of the two holds of the element.
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

  /// For how long the relying party may keep the element: the strictest of what it said of the element by name, and of
  /// every element that this one may come in place of. An age threshold alone says nothing.
  func retention(of reference: ElementReference) -> Retention {
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
  /// Whether a document without it is refused. Many elements mean "no" by their absence.
  public var isRequired: Bool
  /// Elements that satisfy the request in place of this one, and are returned when they come.
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

  /// ISO/IEC 18013-5:2021, 8.3.2.1.2.1, IntentToRetain.
  public var intentToRetain: Bool { retention.isIntended }
}

/// For how long a relying party means to keep a value after it has seen it. The stricter one is the lesser.
public enum Retention: Sendable, Hashable, Comparable {
  /// Not at all.
  case none
  /// At least one.
  case days(Int)
  /// It is kept, and nothing is said of how long.
  case unspecified

  /// IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1), which knows no days.
  public var isIntended: Bool { self != .none }

  /// What all of them allow; nothing is kept of what nobody spoke of.
  static func strictest(of retentions: [Retention]) -> Retention { retentions.min() ?? .none }
}
