import Base
import Mdoc

/// What an app passes to `PKIdentityRequest`, made from a relying party's request.
public struct AppleRequest: Sendable {
  /// For one document: Apple's names for its type and for the elements to ask for, with how long each value may be
  /// kept.
  public struct Document: Sendable, Hashable {
    public let documentType: String
    public let elements: [Element]
  }

  /// An identity element, with what `PKIdentityIntentToStore` tells the person about it.
  public struct Element: Sendable, Hashable {
    public let name: String
    public let retention: Retention
  }

  public let documents: [Document]

  /// Why a request can't be made through Apple's in-app protocol.
  public enum Problem: Error, Sendable, Hashable {
    case docTypeNotOffered(document: Int)
    case elementNotOffered(document: Int, element: Int)
    /// `age` and `age(atLeast:)` can't be in one request.
    case ageInYearsWithThresholds(document: Int)
    /// One of Apple's elements stands for several of the document's, which have different intents, but it has only one.
    case mixedIntents(document: Int, element: Int)
    case severalDocumentsRequired
  }

  public init(_ request: PresentationRequest) throws(Problem) {
    // The person chooses one document, and only that one comes back.
    if request.requiresAllDocuments, request.documents.count > 1 { throw .severalDocumentsRequired }
    var documents: [Document] = []
    for (index, document) in request.documents.enumerated() {
      guard let type = AppleDocumentType(docType: document.docType) else { throw .docTypeNotOffered(document: index) }
      var elements: [Element] = []
      // A threshold alone does not say that the answer may be kept.
      var thresholds = Dictionary(uniqueKeysWithValues: document.ageThresholds.map { ($0, Retention.none) })
      for (position, wanted) in document.elements.enumerated() {
        if let age = AgeAttestations.age(of: wanted.element.identifier) {
          thresholds[age] = wanted.retention
          continue
        }
        guard let name = type.appleElement(for: wanted.element) else {
          throw .elementNotOffered(document: index, element: position)
        }
        if let same = elements.first(where: { $0.name == name }) {
          guard same.retention == wanted.retention else { throw .mixedIntents(document: index, element: position) }
        } else {
          elements.append(Element(name: name, retention: wanted.retention))
        }
      }
      guard thresholds.isEmpty || !elements.contains(where: { $0.name == "age" }) else {
        throw .ageInYearsWithThresholds(document: index)
      }
      elements += thresholds.sorted { $0.key < $1.key }.map {
        Element(name: "age(atLeast: \($0.key))", retention: $0.value)
      }
      documents.append(Document(documentType: type.appleName, elements: elements))
    }
    self.documents = documents
  }

  /// `data` of the session's request: everything that the app needs beside its own merchant identifier.
  public func json(nonce: [UInt8], merchantID: String) -> JSON {
    [
      "nonce": .string(Base64.encode(nonce)), "merchant_identifier": .string(merchantID),
      "documents": .array(
        documents.map { document in
          [
            "document_type": .string(document.documentType),
            "elements": .array(document.elements.map { .string($0.name) }),
            "element_intents": .array(document.elements.map(\.intent)),
          ]
        }),
    ]
  }
}

extension AppleRequest.Element {
  /// `PKIdentityIntentToStore`: `willNotStore`, `mayStore(days:)` or `mayStore`.
  fileprivate var intent: JSON {
    switch retention {
    case .none: ["element": .string(name), "intent_to_store": "will_not_store"]
    case .days(let days):
      ["element": .string(name), "intent_to_store": "may_store", "days": .integer(Int64(days))]
    case .unspecified: ["element": .string(name), "intent_to_store": "may_store"]
    }
  }
}
