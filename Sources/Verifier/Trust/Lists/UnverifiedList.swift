import Base
import PKIX

/// The unverified content of a published list, for display.
public struct UnverifiedList: Sendable {
  public let contents: Contents
  /// The certificates beside the signature, the signer's first; empty if none is readable.
  public let signerChain: [Certificate]

  public enum Contents: Sendable {
    case vical(VICALContents, findings: [Check])
    /// A list of trusted entities, also as the bare payload without a signature.
    case trustedEntities(TrustedEntityList, isSigned: Bool)
  }

  /// Nil if the bytes are not a list in any of these formats.
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

  fileprivate static func readable(_ chain: [ArraySlice<UInt8>]) -> [Certificate] {
    chain.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
  }
}

/// The unverified claims of a status list or identifier list: for display, never for decisions.
public struct UnverifiedStatusToken: Sendable {
  public enum Form: String, Sendable { case cwt, jwt }

  public let mechanism: StatusListSource.Mechanism
  public let form: Form
  /// The certificates in the token, the signer's first.
  public let signerChain: [Certificate]
  /// The claims; nil if they cannot be read.
  public let claims: RegisteredClaims?
  /// The unpacked entries; nil if they cannot be read.
  public let entries: Entries?
  /// The reason why its claims or entries cannot be read; nil if both can be read.
  public let fault: RevocationListError?

  public enum Entries: Sendable {
    /// Bits per status, and the number of statuses, including padding in the last byte.
    case statuses(bits: Int, count: Int)
    case identifiers(Int)
  }

  /// Nil if the bytes do not have the form and the type of such a token.
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
    var claims: RegisteredClaims?
    var entries: Entries?
    var fault: RevocationListError?
    do throws(RevocationListError) {
      let found = try list.unverifiedClaims()
      claims = try found.registered()
      entries = try Self.entries(of: found, mechanism)
    } catch { fault = error }
    (self.claims, self.entries, self.fault) = (claims, entries, fault)
  }

  private static func entries(
    of claims: ListClaims, _ mechanism: StatusListSource.Mechanism
  ) throws(RevocationListError) -> Entries {
    guard mechanism == .statusList else { return .identifiers(try claims.identifiers().count) }
    let statuses = try claims.statuses()
    return .statuses(bits: statuses.bits, count: statuses.count)
  }
}
