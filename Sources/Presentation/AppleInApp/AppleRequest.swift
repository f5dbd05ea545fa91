import Mdoc
import Primitives

/// What an app passes to `PKIdentityRequest`, made from a relying party's request.
public struct AppleRequest: Sendable {
  /// Per document: Apple's name of its type, and of the elements to ask for.
  public struct Document: Sendable, Hashable {
    public let documentType: String
    public let elements: [String]
  }

  public let documents: [Document]

  /// Why a request can't be made through Apple's in-app protocol.
  public enum Problem: Error, Sendable, Hashable {
    case docTypeNotOffered(document: Int)
    case elementNotOffered(document: Int, element: Int)
    /// `age` and `age(atLeast:)` can't be in one request.
    case ageInYearsWithThresholds(document: Int)
    case severalDocumentsRequired
  }

  public init(_ request: PresentationRequest) throws(Problem) {
    // One document comes back, whichever the person chooses.
    if request.requiresAllDocuments, request.documents.count > 1 { throw .severalDocumentsRequired }
    var documents: [Document] = []
    for (index, document) in request.documents.enumerated() {
      guard let type = AppleDocumentType(docType: document.docType) else { throw .docTypeNotOffered(document: index) }
      var names: [String] = []
      var thresholds = document.ageThresholds
      for (position, wanted) in document.elements.enumerated() {
        if let age = AgeAttestations.age(of: wanted.element.identifier) {
          thresholds.append(age)
          continue
        }
        guard let name = type.appleElement(for: wanted.element) else {
          throw .elementNotOffered(document: index, element: position)
        }
        if !names.contains(name) { names.append(name) }
      }
      guard thresholds.isEmpty || !names.contains("age") else {
        throw .ageInYearsWithThresholds(document: index)
      }
      names += Set(thresholds).sorted().map { "age(atLeast: \($0))" }
      documents.append(Document(documentType: type.appleName, elements: names))
    }
    self.documents = documents
  }

  /// `data` of the session's request: what the app needs beside its own merchant identifier.
  public func json(nonce: [UInt8], merchantID: String) -> JSON {
    [
      "nonce": .string(Base64.encode(nonce)), "merchant_identifier": .string(merchantID),
      "documents": .array(
        documents.map { document in
          [
            "document_type": .string(document.documentType),
            "elements": .array(document.elements.map(JSON.string)),
          ]
        }),
    ]
  }
}
