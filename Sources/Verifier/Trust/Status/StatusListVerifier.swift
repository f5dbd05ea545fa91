import Base
import Cryptography
import Mdoc
import PKIX

/// Reads status lists and identifier lists: a function of the bytes, of who may have signed them, and of the time.
public struct StatusListVerifier: Sendable {
  public init() {}

  /// The list, verified once; it then answers for any document of its source until it expires.
  public func read(
    _ bytes: [UInt8], from source: StatusListSource, at now: Timestamp
  ) throws(ListFault) -> VerifiedList {
    let list = try Self.parse(bytes, source.mechanism, allowsJWT: source.allowsJWT)
    let signer = try ListSigner(chain: list.chain, source: source, at: now)
    let claims = try list.claims(verifiedBy: signer.key)
    let registered = try claims.registered()
    try registered.require(subject: source.uri, at: now)
    // Packed data are unpacked only now, when a trusted signer vouches for them.
    let entries: VerifiedList.Entries =
      switch source.mechanism {
      case .statusList: .statuses(try claims.statuses())
      case .identifierList: .identifiers(try claims.identifiers(), listBytes: bytes.count)
      }
    return VerifiedList(
      source: source, signer: signer.certificate, issuedAt: registered.issuedAt,
      expires: min(registered.expires, signer.validUntil + 1), timeToLive: registered.timeToLive,
      deviations: signer.deviations, entries: entries)
  }

  /// The media types to ask a publisher for, best first.
  public func mediaTypes(of source: StatusListSource) -> [String] {
    (source.allowsJWT ? ["cwt", "jwt"] : ["cwt"]).flatMap { source.mechanism.types(suffix: $0).suffix(1) }
  }

  /// A token's form shows in its first byte: CBOR begins with a tag, a JSON Web Token with a letter.
  static func parse(
    _ bytes: [UInt8], _ mechanism: StatusListSource.Mechanism, allowsJWT: Bool
  ) throws(ListFault) -> any SignedList {
    guard bytes.count <= Limits.listBytes else {
      throw ListFault(.listTooLarge, "more than \(Limits.listBytes) bytes")
    }
    guard bytes.first == UInt8(ascii: "e") else {
      return try SignedCWT(parsing: bytes, types: mechanism.types(suffix: "cwt"))
    }
    guard mechanism == .statusList else { throw .invalid("an identifier list is no JSON Web Token") }
    guard allowsJWT else {
      throw .invalid("a JSON Web Token; set \"jwt_status_lists\" in the anchor's settings to accept this form")
    }
    return try SignedJWT(parsing: bytes, types: mechanism.types(suffix: "jwt"))
  }
}

/// A list as it came, in one of its two forms: parsed, with nothing in it trusted yet.
protocol SignedList: Sendable {
  /// The signer's certificate first; empty if the list names none.
  var chain: [ArraySlice<UInt8>] { get }
  /// The claims of the list, if this key signed it.
  func claims(verifiedBy key: PublicKey) throws(ListFault) -> any ListClaims
  /// The same claims without a check of the signature: to be shown, never relied on.
  func unverifiedClaims() throws(ListFault) -> any ListClaims
}

/// The claims of a list, in one of the two forms.
protocol ListClaims: Sendable {
  var subject: String? { get }
  /// The date of a claim; nil if the list has none.
  func date(_ claim: DateClaim) throws(ListFault) -> Timestamp?
  /// The time to live in seconds; nil if the list has none.
  func timeToLive() throws(ListFault) -> Int64?
  func statuses() throws(ListFault) -> PackedStatuses
  func identifiers() throws(ListFault) -> Set<ArraySlice<UInt8>>
}

/// A claim that is a date, by its name in a JSON Web Token.
enum DateClaim: String { case expires = "exp", notBefore = "nbf", issuedAt = "iat" }

extension ListClaims {
  func registered() throws(ListFault) -> RegisteredClaims {
    guard let subject else { throw .invalid("sub is missing or no text") }
    guard let issuedAt = try date(.issuedAt) else { throw .invalid("iat is missing") }
    guard let expires = try date(.expires) else { throw .invalid("exp is missing") }
    let timeToLive = try timeToLive()
    return RegisteredClaims(
      subject: subject, issuedAt: issuedAt, expires: expires, notBefore: try date(.notBefore), timeToLive: timeToLive)
  }
}

/// The claims that both kinds of list have, in both forms (RFC 8392, 3.1; Token Status List, 5).
struct RegisteredClaims: Sendable {
  let subject: String
  let issuedAt: Timestamp
  let expires: Timestamp
  let notBefore: Timestamp?
  /// Seconds after which the publisher wants the list to be fetched anew.
  let timeToLive: Int64?

  /// Checks that the list is the one that was asked for, and is current. Only `issuedAt` and `notBefore` may be ahead
  /// of our clock, by the difference that clocks may have. Nothing makes a list live longer than its signer meant
  /// (ISO/IEC 18013-5, second edition, 12.3.6 requires the expiry).
  func require(subject uri: String, at now: Timestamp) throws(ListFault) {
    guard subject.hasSameBytes(as: uri) else { throw .invalid("sub is not the address that the document names") }
    guard issuedAt <= now + Limits.clockSkew else { throw .invalid("issued in the future, iat is \(issuedAt)") }
    if let notBefore, notBefore > now + Limits.clockSkew { throw .invalid("not yet valid, nbf is \(notBefore)") }
    guard now < expires else { throw .invalid("expired, exp is \(expires)") }
  }

  /// A NumericDate (RFC 8392, 2; RFC 7519, 2) in whole seconds; nil if a timestamp cannot hold the date.
  static func date(_ seconds: Double) -> Timestamp? {
    // Beyond 2^53 a double no longer counts seconds.
    guard seconds.magnitude < 0x1p53 else { return nil }
    return Timestamp(secondsSince1970: Int64(seconds.rounded(.down)))
  }
}

/// Why a list about revocation can't be fetched or used: the status is then not known.
public struct ListFault: Error, Sendable, Hashable {
  public let uncertainty: RevocationUncertainty
  public let detail: String

  init(_ uncertainty: RevocationUncertainty, _ detail: String) {
    self.uncertainty = uncertainty
    self.detail = detail
  }

  /// The list is malformed, expired, about another subject, or not validly signed.
  static func invalid(_ detail: String) -> ListFault { ListFault(.statusListInvalid, detail) }

  public var finding: RevocationFinding { .undetermined(uncertainty, detail: detail) }
}
