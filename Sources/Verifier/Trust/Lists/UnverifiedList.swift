import Base
import PKIX

/// The content of a published list, with nothing verified: for people who want to look into a file. No trust anchor can
/// be made from it: only `VICALVerifier` and `TrustedEntityListVerifier` make them.
public struct UnverifiedList: Sendable {
  public let contents: Contents
  /// The certificates that came with the signature, the signer's first; empty if none can be read.
  public let signerChain: [Certificate]

  public enum Contents: Sendable {
    /// A VICAL, with the findings about its entries.
    case vical(VICALContents, findings: [Check])
    /// A list of trusted entities. It may also come without its signature, as the bare payload.
    case trustedEntities(TrustedEntityList, isSigned: Bool)
  }

  /// Nil if the bytes are no list in any of these formats.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Limits.listBytes else { return nil }
    if let list = Self.vical(bytes) ?? Self.trustedEntities(bytes) { self = list } else { return nil }
  }

  private init(_ contents: Contents, signerChain: [Certificate] = []) {
    self.contents = contents
    self.signerChain = signerChain
  }

  private static func vical(_ bytes: [UInt8]) -> UnverifiedList? {
    guard let message = try? VICALVerifier.open(bytes), message.payload?.bytes != nil,
      let list = try? VICALVerifier.contents(of: message)
    else { return nil }
    return UnverifiedList(
      .vical(list, findings: list.findings), signerChain: readable(message.headers.x5chain ?? []))
  }

  private static func trustedEntities(_ bytes: [UInt8]) -> UnverifiedList? {
    if let list = try? TrustedEntityList(parsing: bytes) {
      return UnverifiedList(.trustedEntities(list, isSigned: false))
    }
    guard let jws = try? TrustedEntityListVerifier.open(bytes), let list = try? TrustedEntityList(parsing: jws.payload)
    else { return nil }
    let chain = (jws.header.certificateChain ?? []).map { $0[...] }
    return UnverifiedList(.trustedEntities(list, isSigned: true), signerChain: readable(chain))
  }

  /// The certificates of a chain that can be read.
  fileprivate static func readable(_ chain: [ArraySlice<UInt8>]) -> [Certificate] {
    chain.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
  }
}

/// The claims of a status list or identifier list, with nothing verified: to look at, never to decide by. To verify it,
/// `StatusListVerifier` needs its source, because the document that names the list decides who may sign it.
public struct UnverifiedStatusToken: Sendable {
  public enum Form: String, Sendable { case cwt, jwt }

  public let mechanism: StatusListSource.Mechanism
  public let form: Form
  /// The certificates that came with it, the signer's first.
  public let signerChain: [Certificate]
  /// The address that it names as its own.
  public let subject: String?
  public let issuedAt: Timestamp?
  public let expires: Timestamp?
  /// How long it may be kept before it is fetched again, in seconds.
  public let timeToLive: Int64?
  /// Its entries, unpacked; nil if they can't be read.
  public let entries: Entries?
  /// Why its claims or entries can't be read; nil if they can.
  public let fault: ListFault?

  public enum Entries: Sendable {
    /// The bits of each status, and the number of statuses, with those that only fill the last byte.
    case statuses(bits: Int, count: Int)
    /// The number of revoked documents.
    case identifiers(Int)
  }

  /// Nil if the bytes don't have the form and the type of such a token.
  public init?(_ bytes: [UInt8]) {
    let text = Array(bytes.withoutLineEnd)
    let mechanisms: [StatusListSource.Mechanism] = [.statusList, .identifierList]
    let found = mechanisms.lazy.compactMap { mechanism in
      (try? StatusListVerifier.parse(text, mechanism, allowsJWT: true)).map { (mechanism, $0) }
    }.first
    guard let (mechanism, list) = found else { return nil }
    self.mechanism = mechanism
    form = bytes.first == UInt8(ascii: "e") ? .jwt : .cwt
    signerChain = UnverifiedList.readable(list.chain)
    var registered: RegisteredClaims?
    var entries: Entries?
    var fault: ListFault?
    do throws(ListFault) {
      let claims = try list.unverifiedClaims()
      registered = try claims.registered()
      entries = try Self.entries(of: claims, mechanism)
    } catch { fault = error }
    (subject, issuedAt) = (registered?.subject, registered?.issuedAt)
    (expires, timeToLive) = (registered?.expires, registered?.timeToLive)
    (self.entries, self.fault) = (entries, fault)
  }

  private static func entries(
    of claims: any ListClaims, _ mechanism: StatusListSource.Mechanism
  ) throws(ListFault) -> Entries {
    guard mechanism == .statusList else { return .identifiers(try claims.identifiers().count) }
    let statuses = try claims.statuses()
    return .statuses(bits: statuses.bits, count: statuses.count)
  }
}
