/// What a relying party asks for, as far as a wallet cares: document types, and elements of namespaces.
package struct MockRequest: Sendable {
  package struct Document: Sendable {
    package var docType: String
    package var elements: [(namespace: String, identifier: String)]
    /// The NN of every "is at least NN years old"; answered by the nearest attestation.
    package var ageOver: [Int]

    package init(docType: String, elements: [(namespace: String, identifier: String)], ageOver: [Int] = []) {
      self.docType = docType
      self.elements = elements
      self.ageOver = ageOver
    }
  }

  /// In the order of preference; an Apple in-app answer holds the first that the wallet has.
  package var documents: [Document]

  package init(documents: [Document]) { self.documents = documents }

  /// The request that every variant's expected codes hold for.
  package static let standard = MockRequest(documents: [.standardMDL])

  /// As `standard`, without the birth date: here an age can be proved by `age_over_NN` alone.
  package static let ageOnly = MockRequest(documents: [
    Document(
      docType: MockDocType.mDL,
      elements: Document.standardMDL.elements.filter { $0.identifier != "birth_date" }, ageOver: [21])
  ])

  /// As `standard`, with the document's own expiry date.
  package static let withExpiryDate = MockRequest(documents: [
    Document(
      docType: MockDocType.mDL, elements: Document.standardMDL.elements + [(MockNamespace.mDL, "expiry_date")],
      ageOver: [21])
  ])

  /// An mDL or a photo ID, whichever the person has.
  package static let anyOf = MockRequest(documents: [.standardMDL, .standardPhotoID])
}

extension MockRequest.Document {
  package static let standardMDL = MockRequest.Document(
    docType: MockDocType.mDL,
    elements: [
      "given_name", "family_name", "birth_date", "portrait", "document_number", "issuing_country",
      "issuing_jurisdiction",
    ].map { (MockNamespace.mDL, $0) },
    ageOver: [21])

  package static let standardPhotoID = MockRequest.Document(
    docType: MockDocType.photoID,
    elements: [
      "given_name_unicode", "family_name_unicode", "birth_date", "portrait", "document_number", "issuing_country",
    ].map { (MockNamespace.photoID, $0) },
    ageOver: [21])
}
