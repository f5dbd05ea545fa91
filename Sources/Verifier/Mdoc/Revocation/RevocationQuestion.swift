import PKIX

/// A question to a publisher before a document is accepted. Questions are only put once the issuer is trusted and its
/// signature verified, so a verifier fetches only addresses that a trusted issuer signed.
public struct RevocationQuestion: Sendable, Hashable {
  public let subject: Subject
  /// The validated path: the document signer first, the trust anchor's certificate last.
  public let path: [Certificate]
  /// Whether this anchor's settings allow lists over plain HTTP.
  public let allowsPlainHTTP: Bool
  /// Whether this anchor's settings allow status lists that are JSON Web Tokens.
  public let allowsJWT: Bool
  /// The addresses from which the lists may be fetched that the path's certificates name.
  public let crlAddresses: CRLAddresses
  /// Who may sign a status list besides the anchor.
  public let statusSigners: [Certificate]

  public enum Subject: Sendable, Hashable {
    /// Are the certificates of the path on their issuers' revocation lists (ISO/IEC 18013-5:2021, B.3.2)?
    case certificates
    /// What does the document's status list or identifier list say?
    case status(StatusReference)
  }

  public init(
    _ subject: Subject, path: [Certificate], allowsPlainHTTP: Bool = false, crlAddresses: CRLAddresses = .named,
    statusSigners: [Certificate] = [], allowsJWT: Bool = false
  ) {
    self.allowsJWT = allowsJWT
    self.crlAddresses = crlAddresses
    self.subject = subject
    self.statusSigners = statusSigners
    self.path = path
    self.allowsPlainHTTP = allowsPlainHTTP
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.subject == right.subject && left.allowsPlainHTTP == right.allowsPlainHTTP
      && left.crlAddresses == right.crlAddresses && left.allowsJWT == right.allowsJWT
      && left.path.elementsEqual(right.path) { $0.sha256 == $1.sha256 }
      && left.statusSigners.elementsEqual(right.statusSigners) { $0.sha256 == $1.sha256 }
  }

  /// Hashes only what tells questions apart cheaply: the signer and the list's address. Equality compares everything.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path.first?.sha256)
    if case .status(let reference) = subject { hasher.combine(reference.uri) }
  }
}

/// The answer to one question. There are only three: a status that is not known is not good.
public enum RevocationFinding: Sendable, Hashable {
  case good
  /// Revoked or suspended: refused under every policy that asks at all.
  case revoked(RevocationCode, detail: String? = nil)
  /// Nothing is known, for the reason that the code names: the relying party's policy decides.
  case undetermined(RevocationUncertainty, detail: String? = nil)
}

/// What a publisher says against a document.
public enum RevocationCode: Sendable, Hashable {
  case signerRevoked, authorityRevoked, documentRevoked, documentSuspended
}

/// Why nothing is known.
public enum RevocationUncertainty: String, Sendable, Hashable, CaseIterable {
  case crlInvalid, statusUnknown, statusListInvalid, statusIndexOutOfRange, mechanismUnsupported, sourceNotAllowed
  case listTooLarge, unavailable
}

/// A list as its publisher signed it, with the address that it came from.
public struct RevocationList: Sendable, Hashable {
  public let address: String
  public let bytes: [UInt8]

  public init(address: String, bytes: [UInt8]) {
    self.address = address
    self.bytes = bytes
  }
}

/// The answers that were gathered. A question without an answer is undetermined.
public struct RevocationEvidence: Sendable {
  // One answer asks a handful of questions: comparing them costs less than hashing them.
  private var findings: [(question: RevocationQuestion, finding: RevocationFinding)] = []

  /// The signed lists on which the findings rest.
  public private(set) var lists: [RevocationList] = []

  public init() {}

  public mutating func note(
    _ finding: RevocationFinding, for question: RevocationQuestion, by lists: [RevocationList] = []
  ) {
    findings.append((question, finding))
    self.lists += lists
  }

  public func finding(for question: RevocationQuestion) -> RevocationFinding {
    findings.first { $0.question == question }?.finding ?? .undetermined(.unavailable, detail: "not asked")
  }
}

/// What a relying party wants to know about revocation.
public enum RevocationPolicy: String, Sendable, Hashable, CaseIterable {
  /// Every status that the document and its signer declare must be good.
  case requireGood = "require_good"
  /// An undetermined status only warns.
  case allowUndetermined = "allow_undetermined"
  /// Nothing is asked.
  case off
}
