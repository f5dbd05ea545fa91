import Base
import CBOR
import PKIX

/// What a verified issuer certificate authority list (ISO/IEC 18013-5, C.2) says: a provider's list of the issuing
/// authorities that it has looked into, with the document types that each may issue.
///
/// Despite the list's name nothing of it is verified here: anybody may have written it. `VICAL` is the verified one.
public struct VICALContents: Sendable {
  public let provider: String
  /// A number of the provider's. Published lists show that it need not grow: `date` says which of two lists is newer.
  public let issueID: UInt64?
  public let date: Timestamp
  public let nextUpdate: Timestamp?
  /// From the second edition on: when the list is no longer to be used.
  public let notAfter: Timestamp?
  /// Where the provider says that its list is (second edition).
  public let url: String?
  /// The entries that can be used, in the order of the list.
  public let entries: [Entry]
  /// How many others there are, which are left out; the findings say why.
  public let leftOut: Int
  /// What is wrong with single entries, and what is tolerated.
  let findings: [Check]

  /// Whether the list still speaks at a time: neither of its ends is past.
  public func isCurrent(at now: Timestamp) -> Bool { expiry.map { now <= $0 } ?? true }

  /// The earlier of its ends; nil where it has none.
  public var expiry: Timestamp? { [nextUpdate, notAfter].compactMap { $0 }.min() }

  /// One issuing authority.
  public struct Entry: Sendable {
    /// The place in the list as it came, from 1.
    public let number: Int
    public let certificate: Certificate
    public let docTypes: [String]
    /// URNs of the profiles that the certificate is said to follow.
    public let profiles: [String]
    public let issuingAuthority: String?
  }
}

extension VICALContents {
  /// Reads the payload (ISO/IEC 18013-5, C.1.7).
  init(reading payload: CBORItem) throws(TrustListError) {
    let members = try VICALMembers(payload)
    let version = try VICALMembers.required(members.text("version"), "version")
    guard version.hasSameBytes(as: "1.0") else { throw .versionUnsupported }
    provider = try VICALMembers.required(members.text("vicalProvider"), "vicalProvider")
    issueID = try members.unsigned("vicalIssueID")
    date = try VICALMembers.required(members.time("date"), "date")
    nextUpdate = try members.time("nextUpdate")
    notAfter = try members.time("notAfter")
    url = try members.text("vicalURL")
    try members.requireMap("extensions")
    let items = try VICALMembers.required(members.items("certificateInfos"), "certificateInfos")
    var reader = VICALEntryParser()
    let read = items.enumerated().map { reader.entry($1, number: $0 + 1) }
    entries = read.compactMap { $0 }
    leftOut = read.count - entries.count
    findings = reader.findings.checks
  }
}

/// The members of one of a VICAL's maps, by their names and types.
struct VICALMembers {
  private let map: CBORItem

  /// - Throws: where it is no map.
  init(_ item: CBORItem) throws(TrustListError) {
    guard item.kind == .map else { throw .malformed("it is no map") }
    map = item
  }

  func text(_ name: String) throws(TrustListError) -> String? {
    guard let item = map[key: name] else { return nil }
    guard let text = item.text else { throw .malformed("\(name) is no text") }
    return text
  }

  func bytes(_ name: String) throws(TrustListError) -> ArraySlice<UInt8>? {
    guard let item = map[key: name] else { return nil }
    guard let bytes = item.bytes else { throw .malformed("\(name) is no byte string") }
    return bytes
  }

  /// A `tdate`: tag 0 with an RFC 3339 time.
  func time(_ name: String) throws(TrustListError) -> Timestamp? {
    guard let item = map[key: name] else { return nil }
    guard let time = item.content(ofTag: 0)?.text.flatMap(Timestamp.init(rfc3339:)) else {
      throw .malformed("\(name) is no time")
    }
    return time
  }

  func unsigned(_ name: String) throws(TrustListError) -> UInt64? {
    guard let item = map[key: name] else { return nil }
    guard let number = item.unsigned else { throw .malformed("\(name) is no unsigned integer") }
    return number
  }

  /// The octets of a number without leading zeros. Tag 2, which the standard has; small ones come as integers, too.
  func bigUnsigned(_ name: String) throws(TrustListError) -> ArraySlice<UInt8>? {
    guard let item = map[key: name] else { return nil }
    if let octets = item.content(ofTag: 2)?.bytes { return octets.drop { $0 == 0 } }
    guard let number = item.unsigned else { throw .malformed("\(name) is no unsigned number") }
    return withUnsafeBytes(of: number.bigEndian) { Array($0) }.drop { $0 == 0 }
  }

  /// One text or more.
  func texts(_ name: String) throws(TrustListError) -> [String]? {
    guard let item = map[key: name] else { return nil }
    let elements = item.elements.map { Array($0) } ?? []
    let texts = elements.compactMap(\.text)
    guard !texts.isEmpty, texts.count == elements.count else { throw .malformed("\(name) is no list of texts") }
    return texts
  }

  func items(_ name: String) throws(TrustListError) -> CBORChildren? {
    guard let item = map[key: name] else { return nil }
    guard let elements = item.elements else { throw .malformed("\(name) is no array") }
    return elements
  }

  func requireMap(_ name: String) throws(TrustListError) {
    guard let item = map[key: name] else { return }
    guard item.kind == .map else { throw .malformed("\(name) is no map") }
  }

  /// The member's name as it stands here: published lists write some with a capital letter.
  func spelling(_ name: String) -> String {
    let capitalized = name.prefix(1).uppercased() + name.dropFirst()
    return map[key: name] == nil && map[key: capitalized] != nil ? capitalized : name
  }

  static func required<Value>(_ value: Value?, _ name: String) throws(TrustListError) -> Value {
    guard let value else { throw .malformed("\(name) is missing") }
    return value
  }
}
