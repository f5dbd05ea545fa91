/// What is to be had at one address while a vector is judged. Nothing is to be had anywhere else.
package struct VectorPublication: Sendable, Hashable {
  /// Exactly as the document or certificate writes it.
  package var address: String
  package var answer: Answer

  package enum Answer: Sendable, Hashable {
    case list(VectorInput, mediaType: String)
    case fault(Fault)
  }

  package enum Fault: String, Sendable, Hashable, CaseIterable {
    case unavailable
    case tooLarge = "too_large"
  }

  package init(address: String, answer: Answer) {
    self.address = address
    self.answer = answer
  }
}

/// A signed list of anchors, and what a relying party configures and remembers for it.
package struct VectorList: Sendable, Hashable {
  package var format: Format
  /// The last list of the same source that was accepted, if any.
  package var last: LastAccepted?
  /// The document types that a service type of a list of trusted entities stands for, in their order.
  package var issuance: [Service]
  /// The service types whose certificates sign status lists.
  package var revocation: [String]

  package enum Format: String, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 18013-5, Annex C.
    case vical
    /// ETSI TS 119 602 in its JSON form.
    case trustedEntities = "trusted-entities"
  }

  package struct Service: Sendable, Hashable {
    package var type: String
    package var docTypes: [String]

    package init(type: String, docTypes: [String]) {
      self.type = type
      self.docTypes = docTypes
    }
  }

  package struct LastAccepted: Sendable, Hashable {
    /// `date` of a VICAL, `ListIssueDateTime` of a list of trusted entities, RFC 3339.
    package var date: String
    /// `vicalIssueID` or `LoTESequenceNumber`.
    package var number: Int64?
    /// SHA-256 of a VICAL's payload.
    package var digest: [UInt8]?

    package init(date: String, number: Int64?, digest: [UInt8]? = nil) {
      self.date = date
      self.number = number
      self.digest = digest
    }
  }

  package init(
    format: Format, last: LastAccepted? = nil, issuance: [Service] = [], revocation: [String] = []
  ) {
    self.format = format
    self.last = last
    self.issuance = issuance
    self.revocation = revocation
  }
}

/// A list whose anchors are trusted beside those that a vector names.
package struct VectorAnchorList: Sendable, Hashable {
  package var list: VectorList
  /// Names of files in the suite's `anchors` folder: who may sign the list.
  package var signers: [String]
  package var input: VectorInput

  package init(list: VectorList, signers: [String], input: VectorInput) {
    self.list = list
    self.signers = signers
    self.input = input
  }
}
