import Base
import Cryptography
import PKIX

/// A format of signed lists of trust anchors. It has the steps that all formats share: open the list, then verify its
/// signer and signature. Only then is the payload read.
protocol TrustListFormat: Sendable {
  associatedtype Envelope
  associatedtype List: Sendable

  var settings: TrustListSource { get }
  static var signerRole: CertificateRole { get }
  /// Every check of a list, in the order of reports.
  static var codes: [Code] { get }

  static func open(_ bytes: [UInt8]) throws(TrustListError) -> Envelope
  /// The signer's certificate first.
  static func signerChain(of envelope: Envelope) throws(TrustListError) -> [ArraySlice<UInt8>]
  /// Records the findings about the signature and the signed header. The signer's path need not be trusted.
  func checkSignature(
    of envelope: Envelope, by path: SignerPath, key: PublicKey, at now: Timestamp, into checks: inout CheckList)
  func read(_ envelope: Envelope) throws(TrustListError) -> List
  /// The mark that later identifies the list, made from the received bytes.
  func mark(of list: List, in envelope: Envelope, _ bytes: [UInt8]) -> AcceptedListMark
  /// Records findings about the entries, and whether the list is in force and not older than the last list.
  func judge(
    _ list: List, _ mark: AcceptedListMark, signedBy signer: Certificate, after last: AcceptedListMark?,
    at now: Timestamp, into checks: inout CheckList
  ) -> ListedTrust
}

/// An operator's settings for one published list: its signers, and the rules for document signers under its anchors.
public struct TrustListSource: Sendable {
  public var signers: SignerPath.Anchors
  /// The extended key usages of document signers under these anchors; nil means the document types' usages.
  public var extendedKeyUsages: Set<String>?
  /// Maximum number of certificates between a listed authority and a document signer.
  public var maxPathLength: Int
  /// The addresses from which the authorities' revocation lists may be fetched.
  public var crlAddresses: AuthorityCRLAddresses
  /// Whether status lists of the listed authorities' documents may also be JSON Web Tokens.
  public var allowsJWTStatusLists: Bool
  public var tier: TrustAnchor.Tier
  /// The origin of the list, as display text.
  public var name: String

  public init(
    signers: SignerPath.Anchors, extendedKeyUsages: Set<String>? = nil, maxPathLength: Int = 0,
    crlAddresses: AuthorityCRLAddresses = .init(.named), allowsJWTStatusLists: Bool = false,
    tier: TrustAnchor.Tier = .live, name: String = ""
  ) {
    self.signers = signers
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.crlAddresses = crlAddresses
    self.allowsJWTStatusLists = allowsJWTStatusLists
    self.tier = tier
    self.name = name
  }
}

extension TrustListFormat {
  /// - Parameter last: the mark of the last list that was accepted from this source; nil if there is none.
  func evaluation(
    of bytes: [UInt8], at now: Timestamp, after last: AcceptedListMark?
  ) -> TrustListEvaluation<List> {
    var checks = CheckList(expecting: 20)
    do throws(TrustListError) {
      if let (envelope, signer, path) = try verified(bytes, at: now, &checks) {
        let list = try read(envelope)
        checks.passed(.listVersionUnsupported)
        let mark = mark(of: list, in: envelope, bytes)
        checks.require(mark.issued <= now + Limits.clockSkew, .listIssuedInFuture, "issued at \(mark.issued)")
        let listed = judge(list, mark, signedBy: signer, after: last, at: now, into: &checks)
        return conclude(list, mark, listed, path, &checks)
      }
    } catch {
      checks.failed(error.code, error.detail)
    }
    checks.skipRest(of: Self.codes)
    return TrustListEvaluation(checks: Self.inOrder(checks))
  }

  /// The list with its signer's path; nil if its signer is untrusted or its signature is invalid.
  private func verified(
    _ bytes: [UInt8], at now: Timestamp, _ checks: inout CheckList
  ) throws(TrustListError) -> (envelope: Envelope, signer: Certificate, path: [Certificate])? {
    guard bytes.count <= Limits.listBytes else {
      throw .tooLarge("\(bytes.count) bytes; the limit is \(Limits.listBytes)")
    }
    checks.passed(.listTooLarge)
    let envelope = try Self.open(bytes)
    checks.passed(.listMalformed)
    checks.passed(.listCriticalExtension)
    let path = SignerPath.validate(
      x5chain: try Self.signerChain(of: envelope), anchors: settings.signers, at: now, role: Self.signerRole)
    checks.append(path.checks)
    guard let signer = path.signer, let key = signer.publicKey else { return nil }
    checkSignature(of: envelope, by: path, key: key, at: now, into: &checks)
    guard path.isTrusted, checks.outcome(of: .listSignatureInvalid) == .passed else { return nil }
    return (envelope, signer, path.certificates)
  }

  private func conclude(
    _ list: List, _ mark: AcceptedListMark, _ listed: ListedTrust, _ path: [Certificate], _ checks: inout CheckList
  ) -> TrustListEvaluation<List> {
    for code in Self.codes where checks.outcome(of: code) == nil { checks.passed(code) }
    var evaluation = TrustListEvaluation(checks: Self.inOrder(checks), list: list, signerPath: path)
    (evaluation.leftOut, evaluation.ignoredServices) = (listed.leftOut, listed.ignoredServices)
    guard !checks.hasFailed else { return evaluation }
    evaluation.anchors = listed.anchors
    evaluation.statusListSigners = listed.statusListSigners
    evaluation.validUntil = (path.map(\.validity.upperBound) + [listed.end].compactMap { $0 }).min()
    evaluation.accepted = mark
    return evaluation
  }

  private static func inOrder(_ checks: CheckList) -> [Check] {
    codes.compactMap { code in checks.checks.first { $0.code == code } }
  }
}

/// The reason why a list cannot be read.
public struct TrustListError: Error, Sendable, Hashable {
  public let code: Code
  public let detail: String

  public static func malformed(_ detail: String) -> TrustListError {
    TrustListError(code: .listMalformed, detail: detail)
  }

  public static func tooLarge(_ detail: String) -> TrustListError {
    TrustListError(code: .listTooLarge, detail: detail)
  }

  /// - Parameter found: the list's version.
  public static func versionUnsupported(_ found: String) -> TrustListError {
    TrustListError(code: .listVersionUnsupported, detail: "the version is \(shown(found)), expected 1")
  }

  /// The list has an unknown critical extension or header parameter.
  public static func criticalExtension(_ detail: String) -> TrustListError {
    TrustListError(code: .listCriticalExtension, detail: detail)
  }
}

/// The anchors and signers that a list makes trusted if it is accepted.
struct ListedTrust {
  /// The earliest end date that the list states; nil if it states no end date.
  let end: Timestamp?
  /// The number of entries that cannot be used.
  let leftOut: Int
  private(set) var anchors: [TrustAnchor] = []
  var statusListSigners: [StatusListSigner] = []
  var ignoredServices: [String: Int] = [:]
  private var indices: [[UInt8]: Int] = [:]

  init(end: Timestamp?, leftOut: Int) {
    self.end = end
    self.leftOut = leftOut
  }

  /// Adds an anchor with the source's settings. Each certificate makes one anchor, for all document types of its
  /// entries.
  mutating func add(
    _ certificate: Certificate, kind: TrustAnchor.Kind = .authority, docTypes: [String],
    of source: TrustListSource, named name: String
  ) {
    if let index = indices[certificate.sha256] { return anchors[index].add(docTypes: docTypes) }
    indices[certificate.sha256] = anchors.count
    var anchor = TrustAnchor(
      certificate: certificate, kind: kind, docTypes: docTypes, extendedKeyUsages: source.extendedKeyUsages,
      maxPathLength: source.maxPathLength, tier: source.tier, source: name)
    anchor.crlAddresses = source.crlAddresses.rule(for: certificate)
    anchor.allowsJWTStatusLists = source.allowsJWTStatusLists
    anchors.append(anchor)
  }
}

/// Findings about a list's entries. Each finding is recorded once, and at most `Limits.reportedFaults` findings for a
/// code.
struct ListFindings {
  private var details: [(code: Code, text: String)] = []
  private var omitted: [Code: Int] = [:]
  private var seen: Set<String> = []

  mutating func note(_ code: Code, _ text: String) {
    guard seen.insert("\(code.rawValue) \(text)").inserted else { return }
    if details.count(where: { $0.code == code }) < Limits.reportedFaults {
      details.append((code, text))
    } else {
      omitted[code, default: 0] += 1
    }
  }

  /// One warning for each code, in the order in which the codes first occurred.
  var checks: [Check] {
    var codes: [Code] = []
    for code in details.map(\.code) where !codes.contains(code) { codes.append(code) }
    return codes.map { code in
      var texts = details.filter { $0.code == code }.map(\.text)
      if let count = omitted[code] { texts.append("and \(count) more") }
      return Check(code, .warning, detail: texts.joined(separator: "; "))
    }
  }
}

extension Array<UInt8> {
  /// The bytes without trailing line ends. Editors add line ends that the signature does not cover.
  package var withoutLineEnd: ArraySlice<UInt8> { prefix(count - reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count) }
}

extension Code {
  public static let listMalformed = Code(
    "list.malformed", "The list is malformed", lists, .list,
    passes: "The list is well-formed")
  public static let listTooLarge = Code(
    "list.too_large", "The list is larger than the limit", lists, .list, passes: "The list is within the size limit")
  public static let listSignatureInvalid = Code(
    "list.signature_invalid", "The list's signature does not verify", lists, .list,
    passes: "The list's signature is valid", cases: "V01")
  public static let listVersionUnsupported = Code(
    "list.version_unsupported", "The list's version is not supported", lists, .list,
    passes: "The list's version is known")
  public static let listCriticalExtension = Code(
    "list.critical_extension", "The list has an unknown critical extension", lists, .list,
    passes: "The list has no unknown critical extension")
  public static let listIssuedInFuture = Code(
    "list.issued_in_future", "The list is dated in the future", lists, "Check this machine's clock.",
    passes: "The list was issued in the past")
  public static let listExpired = Code(
    "list.expired", "The time of the list's next update has passed", lists, "Fetch the list again; ask its provider.",
    passes: "The list is current", cases: "V03")
  public static let listRollback = Code(
    "list.rollback", "The list is older than a previously accepted list", lists,
    "Find out who serves the old list: it may be an attack.", passes: "The list is no older than the last one",
    cases: "V02")
  public static let listEntryMalformed = Code(
    "list.entry_malformed", "An entry of the list cannot be read or used, and was skipped", lists, .list, warns: true)
  public static let listEntryMismatch = Code(
    "list.entry_mismatch", "An entry of the list differs from the certificate that it describes, and was skipped",
    lists, .list, warns: true)
  public static let listEntryNotGranted = Code(
    "list.entry_not_granted", "An entry of the list is withdrawn, suspended or not yet in force, and was skipped",
    lists, "If you did not expect this, ask the list's provider.", warns: true)
  public static let listDeviation = Code(
    "list.deviation", "The list deviates from its standard in a way that is tolerated", lists, .list,
    passes: "The list's encoding has no deviations", warns: true)
  public static let listSourceNotAllowed = Code(
    "list.source_not_allowed",
    "The list's address is not https, is in a non-public network, or redirects to such an address", "RFC 9110, 17.1",
    "Correct the address in the configuration.", cases: "V05")
  public static let listUnavailable = Code(
    "list.unavailable", "The list could not be fetched or read", lists, "Check the address, the file, and the network.")
}

extension CodeGroup {
  public static let trustLists = CodeGroup(
    "Lists of trust anchors",
    [
      .listMalformed, .listTooLarge, .listSignerUntrusted, .listSignerProfile, .listAlgorithmUnsupported,
      .listSignatureInvalid, .listVersionUnsupported, .listCriticalExtension, .listIssuedInFuture, .listExpired,
      .listRollback, .listEntryMalformed, .listEntryMismatch, .listEntryNotGranted, .listDeviation,
      .listSourceNotAllowed, .listUnavailable,
    ])
}

/// The result of evaluating one signed list of trust anchors.
public struct TrustListEvaluation<List: Sendable>: Sendable {
  public let checks: [Check]
  /// The list; nil unless its signature is valid and it is well-formed. `isAccepted` states whether the list is in
  /// force.
  public internal(set) var list: List?
  /// The path from the list's signer to the configured anchor, the signer first; empty if there is no such path.
  public internal(set) var signerPath: [Certificate] = []
  /// The number of entries that cannot be used.
  public internal(set) var leftOut = 0
  /// The anchors that the list makes trusted, each for the document types of its entries; empty unless the list is
  /// accepted.
  public internal(set) var anchors: [TrustAnchor] = []
  /// The permitted signers of status lists; empty unless the list is accepted, and always for a VICAL.
  public internal(set) var statusListSigners: [StatusListSigner] = []
  /// The number of services of each unconfigured type; services without a type are counted under the empty text.
  public internal(set) var ignoredServices: [String: Int] = [:]
  /// The time until which the list may be used: the earlier of the ends of the list and of its signer's path. Nil
  /// unless the list is accepted.
  public internal(set) var validUntil: Timestamp?
  /// The mark of an accepted list; nil unless the list is accepted. Store the mark durably, and pass it to the next
  /// evaluation.
  public internal(set) var accepted: AcceptedListMark?

  public var isAccepted: Bool { accepted != nil }
}

/// The facts about an accepted list that classify a later list as the same, older or newer.
public struct AcceptedListMark: Sendable, Hashable {
  public let issued: Timestamp
  /// The list's own number; nil if it has no number.
  public let number: UInt64?
  /// SHA-256 of a VICAL's payload, or of a list of trusted entities as received.
  public let digest: [UInt8]

  public init(issued: Timestamp, number: UInt64?, digest: [UInt8]) {
    self.issued = issued
    self.number = number
    self.digest = digest
  }
}

/// A certificate of an entity's revocation service: the certificate of an authority, or of the signer itself.
public struct StatusListSigner: Sendable {
  public let certificate: Certificate
  /// The certificates of the same entity's issuance services. The signer may state only the status of documents under
  /// these certificates.
  public let issuers: [Certificate]
}

/// The result of evaluating a published list of any format. Its anchors expire with the list.
struct TrustListOutcome {
  let checks: [Check]
  /// The listed anchors. No anchor is trusted for longer than the list.
  let anchors: [TrustAnchor]
  let leftOut: Int
  let validUntil: Timestamp?
  let accepted: AcceptedListFolder.Accepted?

  init(
    _ bytes: [UInt8], as format: PublishedTrustList.Format, after last: AcceptedListFolder.Accepted?,
    at now: Timestamp
  ) {
    switch format {
    case .vical(let source):
      self.init(VICALVerifier(source: source).evaluate(bytes, at: now, after: last?.mark), of: bytes)
    case .trustedEntities(let source):
      self.init(TrustedEntityListVerifier(source: source).evaluate(bytes, at: now, after: last?.mark), of: bytes)
    }
  }

  private init<List>(_ evaluation: TrustListEvaluation<List>, of bytes: [UInt8]) {
    checks = evaluation.checks
    leftOut = evaluation.leftOut
    validUntil = evaluation.validUntil
    accepted = evaluation.accepted.map { .init(bytes: bytes, mark: $0) }
    anchors = evaluation.anchors.map { anchor in
      var anchor = anchor
      anchor.trustedUntil = evaluation.validUntil
      anchor.statusSigners = evaluation.statusListSigners.filter { signer in
        signer.issuers.contains { $0.der == anchor.certificate.der }
      }.map(\.certificate)
      return anchor
    }
  }
}
