import Base
import CBOR
import COSE
import Cryptography
import JOSE

/// A list as a CBOR Web Token (ISO/IEC 18013-5, second edition, 12.3.6; RFC 8392): parsed, with nothing in it trusted
/// yet.
struct SignedCWT: SignedList {
  private let message: COSESign1
  /// The signer's certificate first; empty if the protected header has none.
  let chain: [ArraySlice<UInt8>]

  /// - Parameter types: the token types that the protected header may give.
  init(parsing bytes: [UInt8], types: [String]) throws(ListFault) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes, limits: Self.limits)
    } catch {
      throw ListFault(cbor: error)
    }
    do throws(COSEError) {
      // The tag is that of COSE_Sign1, and not that of a CWT (tag 61).
      message = try COSESign1(parsing: item, tag: COSESign1.tag)
    } catch {
      throw .invalid(Self.reason(error))
    }
    let headers = message.headers
    guard let type = headers.protectedParameter(COSEHeaders.Label.type)?.text,
      types.contains(where: { $0.hasSameBytes(as: type) })
    else { throw .invalid("the type in the protected header is not \(types[0])") }
    // Only a chain in the protected header counts: both kinds of list have it there (12.3.6).
    chain = headers.protectedParameter(COSEHeaders.Label.x5chain) == nil ? [] : headers.x5chain ?? []
    if let x5t = headers.x5t, let leaf = chain.first {
      let sha256: Int64 = -16
      guard x5t.algorithm == sha256, x5t.hash.map({ HashAlgorithm.sha256.matches($0, digestOf: leaf) }) ?? false else {
        throw .invalid("x5t is not the signer's")
      }
    }
  }

  func claims(verifiedBy key: PublicKey) throws(ListFault) -> any ListClaims {
    guard let payload = message.payload else { throw .invalid("the payload is detached") }
    switch message.verify(payload: payload.bytes ?? [], key: key) {
    case .valid: break
    case .invalid: throw .invalid("the signature does not verify")
    case .algorithmUnsupported: throw .invalid("the signature's algorithm is not supported")
    case .keyMismatch: throw .invalid("the signature's algorithm does not go with the signer's key")
    }
    return try unverifiedClaims()
  }

  func unverifiedClaims() throws(ListFault) -> any ListClaims {
    guard let payload = message.payload else { throw .invalid("the payload is detached") }
    let claims: CBORItem
    do throws(CBORError) {
      claims = try CBORItem(parsingContentOf: payload, limits: Self.limits)
    } catch {
      throw ListFault(cbor: error)
    }
    return try CWTClaims(claims)
  }

  private static func reason(_ error: COSEError) -> String {
    switch error {
    case .duplicateHeader: "a header parameter stands in both header maps"
    case .unsupportedCritical: "a critical header parameter is unknown"
    case .invalidCBOR(let code): "the protected header is \(code.rawValue)"
    case .malformed: "not a COSE_Sign1 under tag 18 and no other"
    }
  }

  private static let limits = CBORLimits(bytes: Limits.listBytes, items: Limits.listItems)
}

extension ListFault {
  init(cbor error: CBORError) {
    let isTooLarge = error.code == .cborInputTooLarge || error.code == .cborTooManyItems
    self.init(isTooLarge ? .listTooLarge : .statusListInvalid, error.code.rawValue)
  }
}

/// The claims set of a verified token.
struct CWTClaims: ListClaims {
  private let map: CBORItem

  enum Label {
    static let subject: Int64 = 2
    static let expires: Int64 = 4
    static let notBefore: Int64 = 5
    static let issuedAt: Int64 = 6
    static let identifierList: Int64 = 65_530
    static let statusList: Int64 = 65_533
    static let timeToLive: Int64 = 65_534
  }

  init(_ map: CBORItem) throws(ListFault) {
    guard map.kind == .map else { throw .invalid("the claims are no map") }
    self.map = map
  }

  var subject: String? { map[label: Label.subject]?.text }

  func date(_ claim: DateClaim) throws(ListFault) -> Timestamp? {
    let label =
      switch claim {
      case .expires: Label.expires
      case .notBefore: Label.notBefore
      case .issuedAt: Label.issuedAt
      }
    guard let item = map[label: label] else { return nil }
    if let seconds = item.integer { return Timestamp(secondsSince1970: seconds) }
    guard let date = item.double.flatMap(RegisteredClaims.date) else { throw .invalid("\(claim.rawValue) is no date") }
    return date
  }

  func timeToLive() throws(ListFault) -> Int64? {
    guard let item = map[label: Label.timeToLive] else { return nil }
    guard let seconds = item.integer, seconds > 0 else { throw .invalid("ttl is no positive integer") }
    return seconds
  }

  func statuses() throws(ListFault) -> PackedStatuses {
    guard let info = map[label: Label.statusList], let list = info[key: "lst"]?.bytes else {
      throw .invalid("there is no status list in the claims")
    }
    return try PackedStatuses(bits: info[key: "bits"]?.integer, list: list)
  }

  /// Identifiers are byte strings. A text is another identifier, and does not stand for the bytes that it spells.
  func identifiers() throws(ListFault) -> Set<ArraySlice<UInt8>> {
    guard let entries = map[label: Label.identifierList]?[key: "identifiers"]?.entries else {
      throw .invalid("there is no identifier list in the claims")
    }
    var identifiers: Set<ArraySlice<UInt8>> = []
    for (key, value) in entries {
      guard let identifier = key.bytes, value.kind == .map else {
        throw .invalid("an identifier is no byte string, or what is said of it no map")
      }
      identifiers.insert(identifier)
    }
    return identifiers
  }
}

/// A status list as a JSON Web Token (Token Status List, 5.1), which ecosystems around other credentials publish.
struct SignedJWT: SignedList {
  private let jws: CompactJWS
  let chain: [ArraySlice<UInt8>]

  /// - Parameter types: the token types that the header may give.
  init(parsing bytes: [UInt8], types: [String]) throws(ListFault) {
    do throws(JOSEError) {
      jws = try CompactJWS(parsing: bytes)
    } catch {
      throw .invalid("no compact JWS that can be used: \(error)")
    }
    guard let type = jws.header.type, types.contains(where: { $0.hasSameBytes(as: type) }) else {
      throw .invalid("the header's typ is not \(types[0])")
    }
    chain = jws.header.certificateChain?.map { $0[...] } ?? []
  }

  func claims(verifiedBy key: PublicKey) throws(ListFault) -> any ListClaims {
    switch jws.verify(with: key) {
    case .valid: break
    case .invalid: throw .invalid("the signature does not verify")
    case .algorithmUnsupported: throw .invalid("the signature's algorithm is not supported")
    case .keyMismatch: throw .invalid("the signature's algorithm does not go with the signer's key")
    }
    return try unverifiedClaims()
  }

  func unverifiedClaims() throws(ListFault) -> any ListClaims {
    guard let json = try? JSON(parsing: jws.payload), json.object != nil else {
      throw .invalid("the claims are no JSON object")
    }
    return JWTClaims(json)
  }
}

/// The claims set of a verified JSON Web Token. There are no identifier lists in this form.
struct JWTClaims: ListClaims {
  private let json: JSON

  init(_ json: JSON) { self.json = json }

  var subject: String? { json["sub"]?.string }

  func date(_ claim: DateClaim) throws(ListFault) -> Timestamp? {
    guard let value = json[claim.rawValue] else { return nil }
    guard let date = Self.number(value).flatMap(RegisteredClaims.date) else {
      throw .invalid("\(claim.rawValue) is no date")
    }
    return date
  }

  /// A positive number (Token Status List, 5.1), which in JSON may have a fraction.
  func timeToLive() throws(ListFault) -> Int64? {
    guard let value = json["ttl"] else { return nil }
    guard let seconds = Self.number(value), seconds > 0, let whole = RegisteredClaims.date(seconds) else {
      throw .invalid("ttl is no positive number")
    }
    return whole.secondsSince1970
  }

  func statuses() throws(ListFault) -> PackedStatuses {
    guard let info = json["status_list"], let text = info["lst"]?.string, let list = Base64.decodeURLSafe(text) else {
      throw .invalid("there is no status list in the claims")
    }
    return try PackedStatuses(bits: info["bits"]?.integer, list: list)
  }

  func identifiers() throws(ListFault) -> Set<ArraySlice<UInt8>> {
    throw .invalid("identifier lists are no JSON Web Tokens")
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
