import Base
import CBOR
import COSE
import Cryptography
import JOSE
import Mdoc
import PKIX

/// Reads status lists and identifier lists. The result depends only on the bytes, the permitted signers and the time.
public struct StatusListVerifier: Sendable {
  public init() {}

  /// Verifies a list once. The verified list then serves every document of its source until it expires.
  public func read(
    _ bytes: [UInt8], from source: StatusListSource, at now: Timestamp
  ) throws(RevocationListError) -> VerifiedList {
    let list = try Self.parse(bytes, source.mechanism, allowsJWT: source.allowsJWT)
    let signer = try ListSigner(chain: list.chain, source: source, at: now)
    let claims = try list.claims(verifiedBy: signer.key)
    let registered = try claims.registered()
    try registered.require(subject: source.uri, at: now)
    // Data are unpacked only after their signature by a trusted signer was verified.
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

  /// The media types to request from a publisher, best first.
  public func mediaTypes(of source: StatusListSource) -> [String] {
    (source.allowsJWT ? ["cwt", "jwt"] : ["cwt"]).flatMap { source.mechanism.types(suffix: $0).suffix(1) }
  }

  /// The first byte identifies the form: CBOR begins with a tag, a JSON Web Token with a letter.
  static func parse(
    _ bytes: [UInt8], _ mechanism: StatusListSource.Mechanism, allowsJWT: Bool
  ) throws(RevocationListError) -> SignedList {
    guard bytes.count <= Limits.listBytes else {
      throw RevocationListError(.listTooLarge, "more than \(Limits.listBytes) bytes")
    }
    guard bytes.first == UInt8(ascii: "e") else {
      return try SignedList(cwt: bytes, types: mechanism.types(suffix: "cwt"))
    }
    guard mechanism == .statusList else { throw .invalid("an identifier list cannot be a JSON Web Token") }
    guard allowsJWT else {
      throw .invalid("a JSON Web Token; set \"jwt_status_lists\" in the anchor's settings to accept this form")
    }
    return try SignedList(jwt: bytes, types: mechanism.types(suffix: "jwt"))
  }
}

/// The claims that status lists and identifier lists share, in CBOR and in JSON (RFC 8392, 3.1; Token Status List, 5).
public struct RegisteredClaims: Sendable {
  /// The list's own address.
  public let subject: String
  public let issuedAt: Timestamp
  public let expires: Timestamp
  let notBefore: Timestamp?
  /// Seconds after which the publisher wants the list to be fetched again.
  public let timeToLive: Int64?

  /// Requires that the list is the requested one, and current. Clock skew applies only to `issuedAt` and `notBefore`.
  /// The expiry is required and exact (ISO/IEC 18013-5, second edition, 12.3.6).
  func require(subject uri: String, at now: Timestamp) throws(RevocationListError) {
    guard subject.hasSameBytes(as: uri) else { throw .invalid("sub is not the address that the document names") }
    guard issuedAt <= now + Limits.clockSkew else { throw .invalid("issued in the future, iat is \(issuedAt)") }
    if let notBefore, notBefore > now + Limits.clockSkew { throw .invalid("not yet valid, nbf is \(notBefore)") }
    guard now < expires else { throw .invalid("expired, exp is \(expires)") }
  }

  /// A NumericDate (RFC 8392, 2; RFC 7519, 2) in whole seconds; nil if it is outside a timestamp's range.
  static func date(_ seconds: Double) -> Timestamp? {
    // From 2^53 on, a double cannot represent every second.
    guard seconds.magnitude < 0x1p53 else { return nil }
    return Timestamp(secondsSince1970: Int64(seconds.rounded(.down)))
  }
}

/// The reason why a list about revocation cannot be fetched or used. The status is then undetermined.
public struct RevocationListError: Error, Sendable, Hashable {
  public let uncertainty: RevocationUncertainty
  public let detail: String

  init(_ uncertainty: RevocationUncertainty, _ detail: String) {
    self.uncertainty = uncertainty
    self.detail = detail
  }

  /// The list is malformed, expired, about another subject, or not validly signed.
  static func invalid(_ detail: String) -> RevocationListError { RevocationListError(.statusListInvalid, detail) }

  public var finding: RevocationFinding { .undetermined(uncertainty, detail: detail) }
}

/// A list in either of its two forms: parsed, but not yet verified.
enum SignedList: Sendable {
  /// A CBOR Web Token (ISO/IEC 18013-5, second edition, 12.3.6; RFC 8392).
  case cwt(COSESign1)
  /// A status list as a JSON Web Token (Token Status List, 5.1). Ecosystems around other credentials publish this form.
  case jwt(CompactJWS)

  /// - Parameter types: the permitted token types of the protected header.
  init(cwt bytes: [UInt8], types: [String]) throws(RevocationListError) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes, limits: Self.limits)
    } catch {
      throw RevocationListError(cbor: error)
    }
    let message: COSESign1
    do throws(COSEError) {
      // The tag must be COSE_Sign1's (18), not a CWT's (61).
      message = try COSESign1(parsing: item, tag: COSESign1.tag)
    } catch {
      throw .invalid(Self.reason(error))
    }
    self = .cwt(message)
    guard let type = message.headers.protectedParameter(COSEHeaders.Label.type)?.text,
      types.contains(where: { $0.hasSameBytes(as: type) })
    else { throw .invalid("the type in the protected header is not \(types[0])") }
    if let x5t = message.headers.x5t, let leaf = chain.first {
      let sha256: Int64 = -16
      guard x5t.algorithm == sha256, x5t.hash.map({ HashAlgorithm.sha256.matches($0, digestOf: leaf) }) ?? false else {
        throw .invalid("x5t does not match the signer's certificate")
      }
    }
  }

  /// - Parameter types: the permitted token types of the header.
  init(jwt bytes: [UInt8], types: [String]) throws(RevocationListError) {
    let jws: CompactJWS
    do throws(JOSEError) {
      jws = try CompactJWS(parsing: bytes)
    } catch {
      throw .invalid("not a usable compact JWS: \(error)")
    }
    guard let type = jws.header.type, types.contains(where: { $0.hasSameBytes(as: type) }) else {
      throw .invalid("the header's typ is not \(types[0])")
    }
    self = .jwt(jws)
  }

  /// The certificates, the signer's first; empty if the list has no certificates.
  var chain: [ArraySlice<UInt8>] {
    switch self {
    case .cwt(let message):
      // Only a chain in the protected header counts, where both kinds of list have it (12.3.6).
      message.headers.protectedParameter(COSEHeaders.Label.x5chain) == nil ? [] : message.headers.x5chain ?? []
    case .jwt(let jws): jws.header.certificateChain?.map { $0[...] } ?? []
    }
  }

  /// The claims of the list, if this key signed it.
  func claims(verifiedBy key: PublicKey) throws(RevocationListError) -> ListClaims {
    switch self {
    case .cwt(let message):
      let verdict = message.verify(payload: try payload(of: message).bytes ?? [], key: key)
      if verdict == .valid { return try unverifiedClaims() }
      throw Self.refusal(isUnsupported: verdict == .algorithmUnsupported, isMismatch: verdict == .keyMismatch)
    case .jwt(let jws):
      let verdict = jws.verify(with: key)
      if verdict == .valid { return try unverifiedClaims() }
      throw Self.refusal(isUnsupported: verdict == .algorithmUnsupported, isMismatch: verdict == .keyMismatch)
    }
  }

  private static func refusal(isUnsupported: Bool, isMismatch: Bool) -> RevocationListError {
    if isUnsupported { return .invalid("the signature's algorithm is not supported") }
    return .invalid(
      isMismatch ? "the signature's algorithm does not fit the signer's key" : "the signature does not verify")
  }

  /// The claims, without checking the signature. For display, never for decisions.
  func unverifiedClaims() throws(RevocationListError) -> ListClaims {
    switch self {
    case .cwt(let message):
      let payload = try payload(of: message)
      let claims: CBORItem
      do throws(CBORError) {
        claims = try CBORItem(parsingContentOf: payload, limits: Self.limits)
      } catch {
        throw RevocationListError(cbor: error)
      }
      guard claims.kind == .map else { throw .invalid("the claims are not a map") }
      return .cwt(claims)
    case .jwt(let jws):
      guard let json = try? JSON(parsing: jws.payload), json.object != nil else {
        throw .invalid("the claims are not a JSON object")
      }
      return .jwt(json)
    }
  }

  private func payload(of message: COSESign1) throws(RevocationListError) -> CBORItem {
    guard let payload = message.payload else { throw .invalid("the payload is detached") }
    return payload
  }

  private static func reason(_ error: COSEError) -> String {
    switch error {
    case .duplicateHeader: "a header parameter is in both header maps"
    case .unsupportedCritical: "a critical header parameter is unknown"
    case .invalidCBOR(let code): "the protected header is \(code.rawValue)"
    case .malformed: "not a COSE_Sign1 with tag 18"
    }
  }

  private static let limits = CBORLimits(bytes: Limits.listBytes, items: Limits.listItems)
}

extension RevocationListError {
  fileprivate init(cbor error: CBORError) {
    let isTooLarge = error.code == .cborInputTooLarge || error.code == .cborTooManyItems
    self.init(isTooLarge ? .listTooLarge : .statusListInvalid, error.code.rawValue)
  }
}

/// The claims of a list, in either of its two forms.
enum ListClaims: Sendable {
  case cwt(CBORItem), jwt(JSON)

  /// A claim by its label in a CBOR Web Token and its name in a JSON Web Token.
  private struct Claim {
    let label: Int64
    let name: String

    static let subject = Claim(label: 2, name: "sub")
    static let expires = Claim(label: 4, name: "exp")
    static let notBefore = Claim(label: 5, name: "nbf")
    static let issuedAt = Claim(label: 6, name: "iat")
    static let identifierList = Claim(label: 65_530, name: "identifier_list")
    static let statusList = Claim(label: 65_533, name: "status_list")
    static let timeToLive = Claim(label: 65_534, name: "ttl")
  }

  func registered() throws(RevocationListError) -> RegisteredClaims {
    let subject =
      switch self {
      case .cwt(let map): map[label: Claim.subject.label]?.text
      case .jwt(let json): json[Claim.subject.name]?.string
      }
    guard let subject else { throw .invalid("sub is missing or not a string") }
    guard let issuedAt = try date(.issuedAt) else { throw .invalid("iat is missing") }
    guard let expires = try date(.expires) else { throw .invalid("exp is missing") }
    let timeToLive = try timeToLive()
    return RegisteredClaims(
      subject: subject, issuedAt: issuedAt, expires: expires, notBefore: try date(.notBefore), timeToLive: timeToLive)
  }

  private func date(_ claim: Claim) throws(RevocationListError) -> Timestamp? {
    let date: Timestamp?
    switch self {
    case .cwt(let map):
      guard let item = map[label: claim.label] else { return nil }
      date = item.integer.map { Timestamp(secondsSince1970: $0) } ?? item.double.flatMap(RegisteredClaims.date)
    case .jwt(let json):
      guard let value = json[claim.name] else { return nil }
      date = Self.number(value).flatMap(RegisteredClaims.date)
    }
    guard let date else { throw .invalid("\(claim.name) is not a date") }
    return date
  }

  /// A positive number of seconds. In JSON it may have a fraction (Token Status List, 5.1).
  private func timeToLive() throws(RevocationListError) -> Int64? {
    let seconds: Int64?
    switch self {
    case .cwt(let map):
      guard let item = map[label: Claim.timeToLive.label] else { return nil }
      seconds = item.integer.flatMap { $0 > 0 ? $0 : nil }
    case .jwt(let json):
      guard let value = json[Claim.timeToLive.name] else { return nil }
      seconds = Self.number(value).flatMap { $0 > 0 ? RegisteredClaims.date($0)?.secondsSince1970 : nil }
    }
    guard let seconds else { throw .invalid("ttl is not a positive number") }
    return seconds
  }

  func statuses() throws(RevocationListError) -> PackedStatuses {
    switch self {
    case .cwt(let map):
      if let info = map[label: Claim.statusList.label], let list = info[key: "lst"]?.bytes {
        return try PackedStatuses(bits: info[key: "bits"]?.integer, list: list)
      }
    case .jwt(let json):
      if let info = json[Claim.statusList.name], let list = info["lst"]?.string.flatMap(Base64.decodeURLSafe) {
        return try PackedStatuses(bits: info["bits"]?.integer, list: list)
      }
    }
    throw .invalid("the claims have no status list")
  }

  /// Identifiers are byte strings. A text with the same bytes is a different identifier.
  func identifiers() throws(RevocationListError) -> Set<ArraySlice<UInt8>> {
    guard case .cwt(let map) = self,
      let entries = map[label: Claim.identifierList.label]?[key: "identifiers"]?.entries
    else { throw .invalid("the claims have no identifier list") }
    var identifiers: Set<ArraySlice<UInt8>> = []
    for (key, value) in entries {
      guard let identifier = key.bytes, value.kind == .map else {
        throw .invalid("an identifier is not a byte string, or its information not a map")
      }
      identifiers.insert(identifier)
    }
    return identifiers
  }

  private static func number(_ value: JSON) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .largeInteger(let digits): Double(digits)
    case .double(let number): number
    default: nil
    }
  }
}
