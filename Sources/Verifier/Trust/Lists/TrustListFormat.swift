import Base
import Cryptography
import PKIX

/// A format in which lists of trust anchors are published and signed. The steps that every format shares stand here
/// once: a list is opened, its signer and its signature are verified, and only then is its payload read.
protocol TrustListFormat: Sendable {
  associatedtype Source: TrustListSource
  /// The signed list. Nothing in it is trusted yet.
  associatedtype Envelope
  associatedtype List: Sendable

  var source: Source { get }
  static var signerRole: CertificateRole { get }
  /// Every check of a list, in the order of reports.
  static var codes: [Code] { get }

  static func open(_ bytes: [UInt8]) throws(TrustListError) -> Envelope
  /// The signer's certificate first.
  static func signerChain(of envelope: Envelope) throws(TrustListError) -> [ArraySlice<UInt8>]
  /// Notes the findings about the signature and about what was signed with it.
  ///
  /// - Parameter path: the path of the signer, which need not be trusted.
  func checkSignature(
    of envelope: Envelope, by path: SignerPath, key: PublicKey, at now: Timestamp, into checks: inout CheckList)
  func read(_ envelope: Envelope) throws(TrustListError) -> List
  /// The mark by which the list is recognised later.
  ///
  /// - Parameter bytes: the list as it came.
  func mark(of list: List, in envelope: Envelope, _ bytes: [UInt8]) -> AcceptedListMark
  /// Notes whether the list is in force and not older than the last one, and the findings about its entries.
  func judge(
    _ list: List, _ mark: AcceptedListMark, signedBy signer: Certificate, after last: AcceptedListMark?,
    at now: Timestamp, into checks: inout CheckList
  ) -> ListedTrust
}

/// What an operator configures for one list, in every format.
protocol TrustListSource: Sendable {
  var signers: SignerPath.Anchors { get }
  var extendedKeyUsages: Set<String>? { get }
  var maxPathLength: Int { get }
  var crlAddresses: AuthorityCRLAddresses { get }
  var allowsJWTStatusLists: Bool { get }
  var tier: TrustAnchor.Tier { get }
  var name: String { get }
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
      checks.failed(error.code, error.detail ?? "\(bytes.count) bytes, at most \(Limits.listBytes) are read")
    }
    checks.skipRest(of: Self.codes)
    return TrustListEvaluation(checks: Self.inOrder(checks))
  }

  /// The list with its signer's path; nil if its signer is not trusted or its signature is wrong.
  private func verified(
    _ bytes: [UInt8], at now: Timestamp, _ checks: inout CheckList
  ) throws(TrustListError) -> (envelope: Envelope, signer: Certificate, path: [Certificate])? {
    guard bytes.count <= Limits.listBytes else { throw .tooLarge() }
    checks.passed(.listTooLarge)
    let envelope = try Self.open(bytes)
    checks.passed(.listMalformed)
    checks.passed(.listCriticalExtension)
    let path = SignerPath.validate(
      x5chain: try Self.signerChain(of: envelope), anchors: source.signers, at: now, role: Self.signerRole)
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
    evaluation.ignoredServices = listed.ignoredServices
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

/// Why a list can't be read.
public enum TrustListError: Error, Sendable, Hashable {
  case malformed(String)
  case tooLarge(String? = nil)
  /// The version that was found.
  case versionUnsupported(String)
  /// It has a critical extension or header parameter that is not known here.
  case criticalExtension(String)

  fileprivate var code: Code {
    switch self {
    case .malformed: .listMalformed
    case .tooLarge: .listTooLarge
    case .versionUnsupported: .listVersionUnsupported
    case .criticalExtension: .listCriticalExtension
    }
  }

  fileprivate var detail: String? {
    switch self {
    case .malformed(let detail), .criticalExtension(let detail): detail
    case .tooLarge(let detail): detail
    case .versionUnsupported(let version): "the version is \(shown(version)), expected is 1"
    }
  }
}

/// The anchors and signers that a list would make trusted.
struct ListedTrust {
  /// The earliest of the ends that the list gives itself; nil if it gives none.
  let end: Timestamp?
  private(set) var anchors: [TrustAnchor] = []
  var statusListSigners: [StatusListSigner] = []
  var ignoredServices: [String: Int] = [:]
  private var places: [[UInt8]: Int] = [:]

  init(end: Timestamp?) { self.end = end }

  /// Adds an anchor with the settings of the list's source. One certificate is one anchor, for the document types of all
  /// its entries.
  mutating func add(
    _ certificate: Certificate, kind: TrustAnchor.Kind = .authority, docTypes: [String],
    of source: some TrustListSource, named name: String
  ) {
    if let place = places[certificate.sha256] { return anchors[place].add(docTypes: docTypes) }
    places[certificate.sha256] = anchors.count
    var anchor = TrustAnchor(
      certificate: certificate, kind: kind, docTypes: docTypes, extendedKeyUsages: source.extendedKeyUsages,
      maxPathLength: source.maxPathLength, tier: source.tier, source: name)
    anchor.crlAddresses = source.crlAddresses.rule(for: certificate)
    anchor.allowsJWTStatusLists = source.allowsJWTStatusLists
    anchors.append(anchor)
  }
}

/// Findings about a list's entries. Thousands of entries may have the same fault, so each finding is noted once, and no
/// code has more findings than a person reads (`Limits.reportedFaults`).
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
  /// The bytes without the line ends behind them, which an editor adds and no signer signs.
  package var withoutLineEnd: ArraySlice<UInt8> { prefix(count - reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count) }
}
