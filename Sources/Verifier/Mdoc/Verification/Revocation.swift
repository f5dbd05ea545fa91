import Base
import CBOR
import PKIX

/// A question to a publisher before a document is accepted. It exists only if the issuer is trusted and its signature
/// is valid. A verifier thus fetches only from addresses that a trusted issuer signed.
public struct RevocationQuestion: Sendable, Hashable {
  public let subject: Subject
  /// The validated path: the document signer first, the trust anchor's certificate last.
  public let path: [Certificate]
  /// Whether the anchor's settings allow lists over plain HTTP.
  public let allowsPlainHTTP: Bool
  /// Whether the anchor's settings allow status lists that are JSON Web Tokens.
  public let allowsJWT: Bool
  /// The addresses from which lists of the path's certificates may be fetched.
  public let crlAddresses: CRLAddresses
  /// Further signers, in addition to the anchor, that may sign a status list.
  public let statusSigners: [Certificate]

  public enum Subject: Sendable, Hashable {
    /// Asks whether certificates of the path are on their issuers' revocation lists (ISO/IEC 18013-5:2021, B.3.2).
    case certificates
    /// Asks for the document's status in its status list or identifier list.
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

  /// Hashes only the signer and the list's address, which is cheap. Equality compares everything.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path.first?.sha256)
    if case .status(let reference) = subject { hasher.combine(reference.uri) }
  }
}

/// The finding for one question. An unknown status never counts as good.
public enum RevocationFinding: Sendable, Hashable {
  case good
  /// The document is rejected under every policy that checks revocation. The code is `signerRevoked`,
  /// `authorityRevoked`, `documentRevoked` or `documentSuspended`.
  case revoked(Code, detail: String? = nil)
  /// The relying party's policy decides.
  case undetermined(RevocationUncertainty, detail: String? = nil)
}

/// The reason why a status is not known.
public enum RevocationUncertainty: String, Sendable, Hashable, CaseIterable {
  case crlInvalid, statusUnknown, statusListInvalid, statusIndexOutOfRange, mechanismUnsupported, sourceNotAllowed
  case listTooLarge, unavailable
}

/// A signed list as published, with its address.
public struct RevocationList: Sendable, Hashable {
  public let address: String
  public let bytes: [UInt8]

  public init(address: String, bytes: [UInt8]) {
    self.address = address
    self.bytes = bytes
  }
}

/// The findings for a response's questions. A question without a finding is undetermined.
public struct RevocationEvidence: Sendable {
  // A response has only a few questions. Comparing them costs less than hashing them.
  private var findings: [(question: RevocationQuestion, finding: RevocationFinding)] = []

  /// The signed lists that the findings are based on.
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

/// A relying party's requirement on revocation.
public enum RevocationPolicy: String, Sendable, Hashable, CaseIterable {
  /// Every status that the document and its signer declare must be good.
  case requireGood = "require_good"
  /// An undetermined status is only a warning.
  case allowUndetermined = "allow_undetermined"
  /// Nothing is asked.
  case off
}

/// The reference to a document's entry in a published list (ISO/IEC 18013-5, second edition, 12.3.6). It is part of
/// `status` in the mobile security object, signed by the issuer.
public struct StatusReference: Sendable, Hashable {
  public let entry: Entry
  /// The address of the list, which is also the list's subject.
  public let uri: String
  /// DER of the required issuer of the top certificate in the chain of the list's signer; nil means the document's own
  /// anchor.
  public let certificate: [UInt8]?

  public enum Entry: Sendable, Hashable {
    /// Token Status List, 6.1.
    case statusList(index: UInt64)
    /// The list has the identifier if the document is revoked.
    case identifierList(identifier: [UInt8])
  }

  public init(_ entry: Entry, uri: String, certificate: [UInt8]? = nil) {
    self.entry = entry
    self.uri = uri
    self.certificate = certificate
  }

  /// Addresses compare by their bytes. Canonically equivalent texts are different addresses.
  public static func == (left: Self, right: Self) -> Bool {
    left.entry == right.entry && left.uri.hasSameBytes(as: right.uri) && left.certificate == right.certificate
  }
}

/// The `status` of a mobile security object (ISO/IEC 18013-5, second edition, 12.3.6). An unusable declaration is kept
/// with its reason, so that no declaration is ignored.
public struct DeclaredStatus: Sendable, Hashable {
  /// One declaration for each mechanism of the standard, or one `unusable` if only other mechanisms are declared.
  public let declarations: [Declaration]

  public enum Declaration: Sendable, Hashable {
    case reference(StatusReference)
    case unusable(RevocationUncertainty, detail: String)
  }

  /// The document declares no status.
  public static let none = DeclaredStatus(declarations: [])

  public var references: [StatusReference] {
    declarations.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
  }

  /// - Parameter item: `status` of the mobile security object.
  init(parsing item: CBORItem) throws(MdocParseError) {
    _ = try StructureParser(code: .msoMalformed).entries(item, "status")
    var declarations: [Declaration] = []
    if let info = item[key: "status_list"] { declarations.append(Self.statusList(info)) }
    if let info = item[key: "identifier_list"] { declarations.append(Self.identifierList(info)) }
    if declarations.isEmpty {
      declarations.append(.unusable(.mechanismUnsupported, detail: "neither status_list nor identifier_list"))
    }
    self.declarations = declarations
  }

  private init(declarations: [Declaration]) { self.declarations = declarations }

  /// StatusListInfo.
  private static func statusList(_ info: CBORItem) -> Declaration {
    guard let index = info[key: "idx"] else { return unusable("status_list has no idx") }
    guard let index = index.unsigned, index <= UInt64(Int64.max) else {
      return .unusable(.statusIndexOutOfRange, detail: "idx is not an unsigned integer below 2^63")
    }
    return reference(.statusList(index: index), in: info)
  }

  /// IdentifierListInfo. Its identifier must be a byte string, like the identifiers in a list.
  private static func identifierList(_ info: CBORItem) -> Declaration {
    guard let identifier = info[key: "id"]?.bytes, !identifier.isEmpty else {
      return unusable("identifier_list has no id that is a byte string")
    }
    return reference(.identifierList(identifier: Array(identifier)), in: info)
  }

  private static func reference(_ entry: StatusReference.Entry, in info: CBORItem) -> Declaration {
    guard let uri = info[key: "uri"]?.text, !uri.isEmpty, uri.utf8.count <= Limits.listAddressBytes else {
      return unusable("uri is missing, not a text, or longer than \(Limits.listAddressBytes) bytes")
    }
    guard let certificate = info[key: "certificate"] else { return .reference(StatusReference(entry, uri: uri)) }
    guard let certificate = certificate.bytes, (1...Limits.certificateBytes).contains(certificate.count) else {
      return unusable("certificate is not a byte string, or is longer than \(Limits.certificateBytes) bytes")
    }
    return .reference(StatusReference(entry, uri: uri, certificate: Array(certificate)))
  }

  private static func unusable(_ detail: String) -> Declaration { .unusable(.statusListInvalid, detail: detail) }
}

/// Checks whether the document and its signer are revoked (ISO/IEC 18013-5:2021, 9.3.3; second edition, 12.3.6). Has
/// the questions, and judges their findings under the relying party's policy.
struct RevocationCheck: Sendable {
  let questions: [RevocationQuestion]
  /// Declarations without a question, each with the reason.
  private let unusable: [(uncertainty: RevocationUncertainty, detail: String)]
  /// Whether a proof hides the declared status. The status is then not checked, and cannot be good.
  private let hidesStatus: Bool

  /// - Parameter status: nil if a proof hides it.
  init(_ status: DeclaredStatus?, path: [Certificate], anchor: TrustAnchor) {
    hidesStatus = status == nil
    var questions: [RevocationQuestion] = []
    // A certificate without a distribution point declares nothing. The anchor's own point is not used. The certificate
    // below the anchor has the address of the anchor's list.
    if path.dropLast().contains(where: { $0.extensions.crlDistributionPoints != nil }) {
      questions.append(
        RevocationQuestion(
          .certificates, path: path, allowsPlainHTTP: anchor.allowsPlainHTTP, crlAddresses: anchor.crlAddresses))
    }
    var unusable: [(RevocationUncertainty, String)] = []
    // A signer that is itself the anchor may have the address of its issuer's list. That issuer is unknown, so its list
    // cannot be verified. The status is declared but undetermined.
    if path.count == 1, path[0].extensions.crlDistributionPoints != nil {
      unusable.append((.crlInvalid, "the signer is itself a trust anchor, so its issuer's list cannot be verified"))
    }
    for declaration in status?.declarations ?? [] {
      switch declaration {
      case .reference(let reference):
        questions.append(
          RevocationQuestion(
            .status(reference), path: path, allowsPlainHTTP: anchor.allowsPlainHTTP,
            statusSigners: anchor.statusSigners, allowsJWT: anchor.allowsJWTStatusLists))
      case .unusable(let uncertainty, let detail): unusable.append((uncertainty, detail))
      }
    }
    self.questions = questions
    self.unusable = unusable
  }

  func run(
    evidence: RevocationEvidence, policy: RevocationPolicy, into checks: inout CheckList
  ) -> RevocationStatus {
    var status = questions.isEmpty ? RevocationStatus.notDeclared : .good
    var hasGood = false
    func undetermined(_ uncertainty: RevocationUncertainty, _ detail: String) {
      status = .undetermined
      checks.expect(false, uncertainty.code, detail, isStrict: policy != .allowUndetermined)
    }
    for question in questions {
      func words(_ detail: String?) -> String {
        [question.subject.name, detail].compactMap { $0 }.joined(separator: ": ")
      }
      switch evidence.finding(for: question) {
      case .good:
        for code in question.subject.codes { checks.passed(code) }
        hasGood = true
      case .revoked(let code, let detail): checks.failed(code, words(detail))
      case .undetermined(let uncertainty, let detail): undetermined(uncertainty, words(detail))
      }
    }
    for declared in unusable { undetermined(declared.uncertainty, declared.detail) }
    if hidesStatus {
      status = .undetermined
      for code in RevocationQuestion.Subject.statusCodes {
        checks.notRun(
          code,
          "a zero-knowledge proof hides the status")
      }
    }
    if hasGood {
      for code in Self.sharedCodes where checks.outcome(of: code) == nil { checks.passed(code) }
    }
    checks.skipRest(of: Self.codes)
    return status
  }

  static let codes = RevocationQuestion.Subject.certificateCodes + RevocationQuestion.Subject.statusCodes + sharedCodes

  private static let sharedCodes: [Code] = [
    .revocationSourceNotAllowed, .revocationListTooLarge, .revocationUnavailable,
  ]
}

extension RevocationQuestion.Subject {
  fileprivate static let certificateCodes: [Code] = [.signerRevoked, .authorityRevoked, .crlInvalid]
  fileprivate static let statusCodes: [Code] = [
    .documentRevoked, .documentSuspended, .statusUnknown, .statusListInvalid, .statusIndexOutOfRange,
    .revocationMechanismUnsupported,
  ]

  fileprivate var codes: [Code] {
    switch self {
    case .certificates: Self.certificateCodes
    case .status: Self.statusCodes
    }
  }

  fileprivate var name: String {
    switch self {
    case .certificates: "certificate revocation list"
    case .status(let reference): if case .statusList = reference.entry { "status list" } else { "identifier list" }
    }
  }
}

extension RevocationFinding {
  /// The code of the finding; nil if the status is good.
  public var code: Code? {
    switch self {
    case .good: nil
    case .revoked(let code, _): code
    case .undetermined(let uncertainty, _): uncertainty.code
    }
  }
}

extension RevocationUncertainty {
  public var code: Code {
    switch self {
    case .crlInvalid: .crlInvalid
    case .statusUnknown: .statusUnknown
    case .statusListInvalid: .statusListInvalid
    case .statusIndexOutOfRange: .statusIndexOutOfRange
    case .mechanismUnsupported: .revocationMechanismUnsupported
    case .sourceNotAllowed: .revocationSourceNotAllowed
    case .listTooLarge: .revocationListTooLarge
    case .unavailable: .revocationUnavailable
    }
  }
}

extension Code {
  public static let signerRevoked = Code(
    "revocation.signer_revoked", "The document signer's certificate is on its authority's revocation list",
    "\(iso), 9.3.3 and B.3.2", .revoked, passes: "The signer's certificate is not revoked")
  public static let authorityRevoked = Code(
    "revocation.authority_revoked",
    "An authority between the document signer and the anchor, or the anchor itself, is on a revocation list",
    "\(iso), 9.3.3 and B.3.2", .revoked, passes: "The authority is not revoked")
  public static let crlInvalid = Code(
    "revocation.crl_invalid",
    "The certificate revocation list is of another issuer, not validly signed, partial, or not current",
    "\(iso), B.3.2; RFC 5280, 6.3.3", .undetermined, passes: "The revocation list is authentic and current")
  public static let documentRevoked = Code(
    "revocation.document_revoked", "The issuer has revoked the document", "\(edition2), 12.3.6", .revoked,
    passes: "The document is not revoked")
  public static let documentSuspended = Code(
    "revocation.document_suspended", "The issuer has suspended the document", "\(edition2), 12.3.6", .revoked,
    passes: "The document is not suspended")
  public static let statusUnknown = Code(
    "revocation.status_unknown", "The status list gives the document a status without a standard meaning",
    "Token Status List, 7.1", .undetermined, passes: "The document's status has a standard meaning")
  public static let statusListInvalid = Code(
    "revocation.status_list_invalid",
    "The status list or identifier list is malformed, expired, for another subject, or not validly signed",
    "Token Status List, 8.3; \(edition2), 12.3.6", .undetermined, passes: "The status list is authentic and current")
  public static let statusIndexOutOfRange = Code(
    "revocation.status_index_out_of_range", "The document's index is outside its status list",
    "Token Status List, 8.3", .undetermined, passes: "The document is on its status list")
  public static let revocationMechanismUnsupported = Code(
    "revocation.mechanism_unsupported", "The document declares a status by an unsupported mechanism",
    "\(edition2), 12.3.6", .undetermined, passes: "The document's status mechanism is supported")
  public static let revocationSourceNotAllowed = Code(
    "revocation.source_not_allowed",
    "The list's address is not https, has a non-public port or network, or redirects to such an address",
    "RFC 9110, 17.1", .undetermined, passes: "The lists' addresses are allowed", cases: "R09")
  public static let revocationListTooLarge = Code(
    "revocation.list_too_large", "The list is larger than the limit, compressed or decompressed", "RFC 9110, 17.5",
    .undetermined, passes: "The lists are within the size limit")
  public static let revocationUnavailable = Code(
    "revocation.unavailable", "The list could not be fetched, and no stored list is current",
    "\(iso), 9.3.3", .undetermined, passes: "The lists could be read")
}

extension Code.Remedy {
  static let revoked: Self = "Do not accept the document; the holder must contact its issuer."
  static let undetermined: Self =
    "Fetch the list's address from this machine, and ask the issuer if that fails. Meanwhile the relying party's "
    + "policy decides."
}

extension CodeGroup {
  public static let revocation = CodeGroup("Revocation", RevocationCheck.codes)
}
