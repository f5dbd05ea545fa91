/// What is to be had at one address while a vector is judged. Nothing is to be had anywhere else.
public struct VectorPublication: Sendable, Hashable {
  /// Exactly as the document or certificate writes it.
  public var address: String
  public var answer: Answer

  public enum Answer: Sendable, Hashable {
    case list(VectorInput, mediaType: String)
    case fault(Fault)
  }

  public enum Fault: String, Sendable, Hashable, CaseIterable {
    case unavailable
    case tooLarge = "too_large"
  }

  public init(address: String, answer: Answer) {
    self.address = address
    self.answer = answer
  }
}

/// A signed list of anchors, and what a relying party configures and remembers for it.
public struct VectorList: Sendable, Hashable {
  public var format: Format
  /// The last list of the same source that was accepted, if any.
  public var last: LastAccepted?
  /// The document types that a service type of a list of trusted entities stands for, in their order.
  public var issuance: [Service]
  /// The service types whose certificates sign status lists.
  public var revocation: [String]

  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 18013-5, Annex C.
    case vical
    /// ETSI TS 119 602 in its JSON form.
    case trustedEntities = "trusted-entities"
  }

  public struct Service: Sendable, Hashable {
    public var type: String
    public var docTypes: [String]

    public init(type: String, docTypes: [String]) {
      self.type = type
      self.docTypes = docTypes
    }
  }

  public struct LastAccepted: Sendable, Hashable {
    /// `date` of a VICAL, `ListIssueDateTime` of a list of trusted entities, RFC 3339.
    public var date: String
    /// `vicalIssueID` or `LoTESequenceNumber`.
    public var number: Int64?
    /// SHA-256 of a VICAL's payload.
    public var digest: [UInt8]?

    public init(date: String, number: Int64?, digest: [UInt8]? = nil) {
      self.date = date
      self.number = number
      self.digest = digest
    }
  }

  public init(
    format: Format, last: LastAccepted? = nil, issuance: [Service] = [], revocation: [String] = []
  ) {
    self.format = format
    self.last = last
    self.issuance = issuance
    self.revocation = revocation
  }
}

/// A list whose anchors are trusted beside those that a vector names.
public struct VectorAnchorList: Sendable, Hashable {
  public var list: VectorList
  /// Names of files in the suite's `anchors` folder: who may sign the list.
  public var signers: [String]
  public var input: VectorInput

  public init(list: VectorList, signers: [String], input: VectorInput) {
    self.list = list
    self.signers = signers
    self.input = input
  }
}
