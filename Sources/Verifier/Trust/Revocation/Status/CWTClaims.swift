import Base
import CBOR

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

  init(_ map: CBORItem) { self.map = map }

  func registered() throws(StatusListError) -> RegisteredClaims {
    guard map.kind == .map else { throw .invalid("the claims are no map") }
    guard let subject = map[label: Label.subject]?.text else { throw .invalid("sub is missing or no text") }
    guard let issuedAt = try date(Label.issuedAt, "iat") else { throw .invalid("iat is missing") }
    guard let expires = try date(Label.expires, "exp") else { throw .invalid("exp is missing") }
    var timeToLive: Int64?
    if let item = map[label: Label.timeToLive] {
      guard let seconds = item.integer, seconds > 0 else { throw .invalid("ttl is no positive integer") }
      timeToLive = seconds
    }
    return RegisteredClaims(
      subject: subject, issuedAt: issuedAt, expires: expires, notBefore: try date(Label.notBefore, "nbf"),
      timeToLive: timeToLive)
  }

  func statuses() throws(StatusListError) -> PackedStatuses {
    guard let info = map[label: Label.statusList], let list = info[key: "lst"]?.bytes else {
      throw .invalid("there is no status list in the claims")
    }
    return try PackedStatuses(bits: info[key: "bits"]?.integer, list: list)
  }

  /// Identifiers are byte strings; a text would be another identifier, and is not taken for the bytes that it spells.
  func identifiers() throws(StatusListError) -> Set<ArraySlice<UInt8>> {
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

  private func date(_ label: Int64, _ name: String) throws(StatusListError) -> Timestamp? {
    guard let item = map[label: label] else { return nil }
    if let seconds = item.integer { return Timestamp(secondsSince1970: seconds) }
    guard let date = item.double.flatMap(RegisteredClaims.date) else { throw .invalid("\(name) is no date") }
    return date
  }
}
