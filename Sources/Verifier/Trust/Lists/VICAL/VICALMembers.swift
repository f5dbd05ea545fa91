import Base
import CBOR

/// The members of one of a VICAL's maps, by their names and types.
struct VICALMembers {
  private let map: CBORItem

  /// - Throws: where it is no map.
  init(_ item: CBORItem) throws(VICALError) {
    guard item.kind == .map else { throw .malformed("it is no map") }
    map = item
  }

  func text(_ name: String) throws(VICALError) -> String? {
    guard let item = map[key: name] else { return nil }
    guard let text = item.text else { throw .malformed("\(name) is no text") }
    return text
  }

  func bytes(_ name: String) throws(VICALError) -> ArraySlice<UInt8>? {
    guard let item = map[key: name] else { return nil }
    guard let bytes = item.bytes else { throw .malformed("\(name) is no byte string") }
    return bytes
  }

  /// A `tdate`: tag 0 with an RFC 3339 time.
  func time(_ name: String) throws(VICALError) -> Timestamp? {
    guard let item = map[key: name] else { return nil }
    guard let time = item.content(ofTag: 0)?.text.flatMap(Timestamp.init(rfc3339:)) else {
      throw .malformed("\(name) is no time")
    }
    return time
  }

  func unsigned(_ name: String) throws(VICALError) -> UInt64? {
    guard let item = map[key: name] else { return nil }
    guard let number = item.unsigned else { throw .malformed("\(name) is no unsigned integer") }
    return number
  }

  /// The octets of a number without leading zeros. Tag 2, which the standard has; small ones come as integers, too.
  func bigUnsigned(_ name: String) throws(VICALError) -> ArraySlice<UInt8>? {
    guard let item = map[key: name] else { return nil }
    if let octets = item.content(ofTag: 2)?.bytes { return octets.drop { $0 == 0 } }
    guard let number = item.unsigned else { throw .malformed("\(name) is no unsigned number") }
    return withUnsafeBytes(of: number.bigEndian) { Array($0) }.drop { $0 == 0 }
  }

  /// One text or more.
  func texts(_ name: String) throws(VICALError) -> [String]? {
    guard let item = map[key: name] else { return nil }
    let elements = item.elements.map { Array($0) } ?? []
    let texts = elements.compactMap(\.text)
    guard !texts.isEmpty, texts.count == elements.count else { throw .malformed("\(name) is no list of texts") }
    return texts
  }

  func items(_ name: String) throws(VICALError) -> CBORChildren? {
    guard let item = map[key: name] else { return nil }
    guard let elements = item.elements else { throw .malformed("\(name) is no array") }
    return elements
  }

  func requireMap(_ name: String) throws(VICALError) {
    guard let item = map[key: name] else { return }
    guard item.kind == .map else { throw .malformed("\(name) is no map") }
  }

  /// The member's name as it stands here: published lists write some with a capital letter.
  func spelling(_ name: String) -> String {
    let capitalized = name.prefix(1).uppercased() + name.dropFirst()
    return map[key: name] == nil && map[key: capitalized] != nil ? capitalized : name
  }

  static func required<Value>(_ value: Value?, _ name: String) throws(VICALError) -> Value {
    guard let value else { throw .malformed("\(name) is missing") }
    return value
  }
}
