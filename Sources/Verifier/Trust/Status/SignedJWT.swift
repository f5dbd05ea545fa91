import Base
import Cryptography
import JOSE

/// A status list as a JSON Web Token (Token Status List, 5.1), which ecosystems around other credentials publish.
struct SignedJWT: SignedList {
  private let jws: CompactJWS
  let chain: [ArraySlice<UInt8>]

  /// - Parameter types: what the header may give as the token's type.
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
    case .double(let number): number
    default: nil
    }
  }
}
