import Base
import Cryptography
import Mdoc
import PKIX

/// Reads status lists and identifier lists: a function of the bytes, of who may have signed them, and of the time.
public struct StatusListReader: Sendable {
  /// Whether a status list may also be a JSON Web Token. ISO/IEC 18013-5 has only the CBOR form.
  public let allowsJWT: Bool

  public init(allowsJWT: Bool = false) { self.allowsJWT = allowsJWT }

  /// The list, verified once; it then answers for any document of its source until it expires.
  public func read(
    _ bytes: [UInt8], from source: StatusListSource, at now: Timestamp
  ) throws(StatusListError) -> VerifiedList {
    let list = try parse(bytes, source.mechanism)
    let signer = try ListSigner(chain: list.chain, source: source, at: now)
    let claims = try list.claims(verifiedBy: signer.key)
    let registered = try claims.registered()
    try registered.require(subject: source.uri, at: now)
    let facts = VerifiedListFacts(
      source: source, signer: signer.certificate, issuedAt: registered.issuedAt,
      expires: min(registered.expires, signer.validUntil + 1), timeToLive: registered.timeToLive,
      deviations: signer.deviations)
    // What is packed is unpacked only now that a trusted signer vouches for it.
    return switch source.mechanism {
    case .statusList: .statusList(VerifiedStatusList(facts: facts, statuses: try claims.statuses()))
    case .identifierList:
      .identifierList(
        VerifiedIdentifierList(facts: facts, identifiers: try claims.identifiers(), listBytes: bytes.count))
    }
  }

  /// What to ask a publisher for, best first.
  public func mediaTypes(for mechanism: StatusListSource.Mechanism) -> [String] {
    let forms = allowsJWT && mechanism == .statusList ? ["cwt", "jwt"] : ["cwt"]
    return forms.flatMap { mechanism.types(suffix: $0).suffix(1) }
  }

  /// A token's form shows in its first byte: CBOR begins with a tag, a JSON Web Token with a letter.
  func parse(
    _ bytes: [UInt8], _ mechanism: StatusListSource.Mechanism
  ) throws(StatusListError) -> any SignedList {
    guard bytes.count <= Limits.listBytes else {
      throw StatusListError(.listTooLarge, "more than \(Limits.listBytes) bytes")
    }
    guard bytes.first == UInt8(ascii: "e") else {
      return try SignedCWT(parsing: bytes, types: mechanism.types(suffix: "cwt"))
    }
    guard allowsJWT, mechanism == .statusList else { throw .invalid("a JSON Web Token is not allowed here") }
    return try SignedJWT(parsing: bytes, types: mechanism.types(suffix: "jwt"))
  }
}

/// A list that was verified, of either kind.
public enum VerifiedList: Sendable {
  case statusList(VerifiedStatusList)
  case identifierList(VerifiedIdentifierList)

  public var facts: VerifiedListFacts {
    switch self {
    case .statusList(let list): list.facts
    case .identifierList(let list): list.facts
    }
  }

  /// About how many bytes of memory the list takes while it is kept.
  public var keptBytes: Int {
    switch self {
    case .statusList(let list): list.statuses.keptBytes
    case .identifierList(let list): list.listBytes + 2 * list.count * MemoryLayout<ArraySlice<UInt8>>.stride
    }
  }

  /// What the list says of the document that has this reference, at a time that may be long after it was verified.
  public func finding(for reference: StatusReference, at now: Timestamp) -> RevocationFinding {
    switch self {
    case .statusList(let list): list.finding(for: reference, at: now)
    case .identifierList(let list): list.finding(for: reference, at: now)
    }
  }
}

/// A list as it came, in one of its two forms: parsed, and nothing of it believed.
protocol SignedList: Sendable {
  /// The signer's certificate first; empty where the list names none.
  var chain: [ArraySlice<UInt8>] { get }
  /// What the list says, where it was signed with this key.
  func claims(verifiedBy key: PublicKey) throws(StatusListError) -> any ListClaims
  /// The same whoever signed it: to be shown and never relied on.
  func unverifiedClaims() throws(StatusListError) -> any ListClaims
}

/// The claims of a list.
protocol ListClaims: Sendable {
  func registered() throws(StatusListError) -> RegisteredClaims
  func statuses() throws(StatusListError) -> PackedStatuses
  func identifiers() throws(StatusListError) -> Set<ArraySlice<UInt8>>
}

/// What both kinds of list, in both forms, say of themselves (RFC 8392, 3.1; Token Status List, 5).
struct RegisteredClaims: Sendable {
  let subject: String
  let issuedAt: Timestamp
  let expires: Timestamp
  let notBefore: Timestamp?
  /// Seconds after which the publisher wants the list to be fetched anew.
  let timeToLive: Int64?

  /// Whether the list is the one that was asked for, and current. Only dates of the signing may be ahead of our clock by
  /// what clocks differ; nothing makes a list live longer than its signer meant (ISO/IEC 18013-5, second edition,
  /// 12.3.6 requires the expiry).
  func require(subject uri: String, at now: Timestamp) throws(StatusListError) {
    guard subject.hasSameBytes(as: uri) else { throw .invalid("sub is not the address that the document names") }
    guard issuedAt <= now + Limits.clockSkew else { throw .invalid("issued in the future") }
    if let notBefore, notBefore > now + Limits.clockSkew { throw .invalid("not yet valid") }
    guard now < expires else { throw .invalid("expired") }
  }

  /// A NumericDate (RFC 8392, 2; RFC 7519, 2) in whole seconds; nil where it is no date that a timestamp can hold.
  static func date(_ seconds: Double) -> Timestamp? {
    // Beyond 2^53 a double no longer counts seconds.
    guard seconds.magnitude < 0x1p53 else { return nil }
    return Timestamp(secondsSince1970: Int64(seconds.rounded(.down)))
  }
}

/// Why a status list or identifier list cannot be used: the document's status is then not known.
public struct StatusListError: Error, Sendable, Hashable {
  public let uncertainty: RevocationUncertainty
  public let detail: String

  init(_ uncertainty: RevocationUncertainty, _ detail: String) {
    self.uncertainty = uncertainty
    self.detail = detail
  }

  /// Malformed, expired, of another subject, or not validly signed.
  static func invalid(_ detail: String) -> StatusListError { StatusListError(.statusListInvalid, detail) }

  public var finding: RevocationFinding { .undetermined(uncertainty, detail: detail) }
}
