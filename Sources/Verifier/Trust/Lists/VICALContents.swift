import Base
import CBOR
import PKIX

/// The contents of a verified issuer certificate authority list (VICAL; ISO/IEC 18013-5, C.2): the issuing authorities
/// that a provider has examined, with the document types that each may issue.
///
/// Despite the list's name, nothing is verified here: anybody may have written it. `VICAL` is the verified list.
public struct VICALContents: Sendable {
  public let provider: String
  /// A number of the provider's. Published lists show that it need not grow: `date` says which of two lists is newer.
  public let issueID: UInt64?
  public let date: Timestamp
  public let nextUpdate: Timestamp?
  /// The end of the list's use, from the second edition on.
  public let notAfter: Timestamp?
  /// The address at which the provider says that it publishes the list (second edition).
  public let url: String?
  /// The entries that can be used, in the order of the list.
  public let entries: [Entry]
  /// The number of entries that are left out; the findings say why.
  public let leftOut: Int
  /// Faults of single entries, and deviations that are tolerated.
  let findings: [Check]

  /// Whether the list is in force at a time: none of its ends is past.
  public func isCurrent(at now: Timestamp) -> Bool { expiry.map { now <= $0 } ?? true }

  /// The earlier of its ends; nil if it has none.
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
    guard version.hasSameBytes(as: "1.0") else { throw .versionUnsupported(version) }
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

  /// - Throws: `TrustListError` if the item is no map.
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

  /// The octets of a number without leading zeros. The standard has tag 2; small numbers also come as integers.
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

  /// The name with which this map has the member: published lists write some with a capital letter.
  func spelling(_ name: String) -> String {
    let capitalized = name.prefix(1).uppercased() + name.dropFirst()
    return map[key: name] == nil && map[key: capitalized] != nil ? capitalized : name
  }

  static func required<Value>(_ value: Value?, _ name: String) throws(TrustListError) -> Value {
    guard let value else { throw .malformed("\(name) is missing") }
    return value
  }
}

/// Reads the entries of a VICAL (ISO/IEC 18013-5, C.1.7) one by one: a fault in one entry drops only that entry.
struct VICALEntryParser {
  private(set) var findings = ListFindings()

  /// The entry; nil if it is left out, which is noted.
  mutating func entry(_ item: CBORItem, number: Int) -> VICALContents.Entry? {
    do throws(TrustListError) {
      let members = try VICALMembers(item)
      let entry = try entry(members, number: number)
      var differences = try differences(members, entry.certificate)
      differences += try differenceInKeyIdentifier(members, entry.certificate)
      guard differences.isEmpty else {
        findings.note(.listEntryMismatch, "entry \(number): \(differences.joined(separator: ", "))")
        return nil
      }
      try requireAuthority(entry.certificate)
      try compareAuthority(members, entry)
      return entry
    } catch .malformed(let detail) {
      findings.note(.listEntryMalformed, "entry \(number): \(detail)")
    } catch {
      findings.note(.listEntryMalformed, "entry \(number)")
    }
    return nil
  }

  private mutating func entry(_ members: VICALMembers, number: Int) throws(TrustListError) -> VICALContents.Entry {
    let der = try VICALMembers.required(members.bytes("certificate"), "certificate")
    let docTypes = try VICALMembers.required(members.texts("docType"), "docType")
    let certificate: Certificate
    do throws(CertificateError) {
      certificate = try Certificate(der: der)
    } catch {
      throw .malformed("the certificate \(error.detail)")
    }
    try members.requireMap(tolerated("extensions", in: members))
    return VICALContents.Entry(
      number: number, certificate: certificate, docTypes: docTypes,
      profiles: try members.texts(tolerated("certificateProfile", in: members)) ?? [],
      issuingAuthority: try members.text("issuingAuthority"))
  }

  private mutating func tolerated(_ name: String, in members: VICALMembers) -> String {
    let spelling = members.spelling(name)
    if spelling != name { findings.note(.listDeviation, "entries have \"\(spelling)\" for \"\(name)\"") }
    return spelling
  }

  // MARK: What the entry says of its certificate

  /// The names of members that should copy a field of the certificate (C.1.7.1) and differ from it. They exist so that
  /// readers need not parse certificates. A copy that differs would make different readers trust different authorities.
  private mutating func differences(_ members: VICALMembers, _ certificate: Certificate) throws(TrustListError)
    -> [String]
  {
    let serialNumber = try VICALMembers.required(members.bigUnsigned("serialNumber"), "serialNumber")
    let subject = certificate.subject
    let comparisons: [(name: String, isEqual: Bool)] = [
      ("serialNumber", serialNumber.elementsEqual(certificate.serialNumber.drop { $0 == 0 })),
      ("issuer", try members.bytes("issuer").map { $0.elementsEqual(certificate.issuer.der) } ?? true),
      ("subject", try members.bytes("subject").map { $0.elementsEqual(subject.der) } ?? true),
      ("notBefore", isEqual(try members.time("notBefore"), certificate.validity.lowerBound)),
      ("notAfter", isEqual(try members.time("notAfter"), certificate.validity.upperBound)),
    ]
    return comparisons.filter { !$0.isEqual }.map(\.name)
  }

  /// Compares the country and state of the entry with the certificate's. They are the authority's own (C.1.7.1) and no
  /// copies: many certificates have none. A difference is only noted, because signers are checked against the
  /// certificate.
  private mutating func compareAuthority(_ members: VICALMembers, _ entry: VICALContents.Entry) throws(TrustListError) {
    let subject = entry.certificate.subject
    let comparisons = [
      ("issuingCountry", try members.text("issuingCountry"), subject.country),
      ("stateOrProvinceName", try members.text("stateOrProvinceName"), subject.stateOrProvince),
    ]
    for (name, stated, own) in comparisons {
      guard let stated, let own, !stated.isEmpty, !stated.hasSameBytes(as: own) else { continue }
      findings.note(.listDeviation, "entry \(entry.number): \(name) is not its certificate's")
    }
  }

  /// One published list writes hours by a twelve-hour clock: 18:20:55 becomes 06:20:55. That is tolerated, because
  /// nothing depends on it: the certificate's own times count.
  private mutating func isEqual(_ stated: Timestamp?, _ own: Timestamp) -> Bool {
    guard let stated, stated != own else { return true }
    guard stated.date == own.date, stated + 43_200 == own || stated - 43_200 == own else { return false }
    findings.note(.listDeviation, "times are written by a clock of twelve hours")
    return true
  }

  private mutating func differenceInKeyIdentifier(
    _ members: VICALMembers, _ certificate: Certificate
  ) throws(TrustListError) -> [String] {
    let stated = try VICALMembers.required(members.bytes("ski"), "ski")
    guard let own = certificate.extensions.subjectKeyIdentifier else {
      // Nothing is contradicted: the provider has computed an identifier of its own.
      findings.note(.listDeviation, "certificates have no subject key identifier for ski")
      return []
    }
    if stated.elementsEqual(own) { return [] }
    // One published list gives the extension's DER in its place, as libraries that read extensions return it.
    guard withoutOctetStringHeads(stated).elementsEqual(own) else { return ["ski"] }
    findings.note(.listDeviation, "ski is wrapped in OCTET STRING")
    return []
  }

  /// The content of an OCTET STRING of short length, or of one inside another.
  private func withoutOctetStringHeads(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    for _ in 0..<2 where rest.count > 2 && rest.first == 0x04 && Int(rest[rest.startIndex + 1]) == rest.count - 2 {
      rest = rest.dropFirst(2)
    }
    return rest
  }

  /// Rejects a certificate in which no path could end. Its validity is checked later, when the authority is used.
  private func requireAuthority(_ certificate: Certificate) throws(TrustListError) {
    guard certificate.extensions.isCA, certificate.extensions.keyUsage?.contains(.keyCertSign) ?? true else {
      throw .malformed("the certificate is of no certification authority")
    }
    guard certificate.publicKey != nil else { throw .malformed("the certificate's key is not of a known curve") }
  }
}
