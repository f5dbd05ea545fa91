import Base
import CBOR
import PKIX

/// The contents of an issuer certificate authority list (VICAL; ISO/IEC 18013-5, C.2). They are the authorities that a
/// provider has examined, with the document types that each may issue. Nothing is verified here: `VICAL` is the
/// verified list.
public struct VICALContents: Sendable {
  public let provider: String
  /// The provider's number for the issue. In published lists it does not always increase: `date` tells which of two
  /// lists is newer.
  public let issueID: UInt64?
  public let date: Timestamp
  public let nextUpdate: Timestamp?
  /// The last time at which the list may be used; from the second edition on.
  public let notAfter: Timestamp?
  /// The publication address that the list itself states (second edition).
  public let url: String?
  /// The entries that can be used, in the order of the list.
  public let entries: [Entry]
  /// The number of omitted entries. The findings give the reasons.
  public let leftOut: Int
  /// Faults of single entries, and tolerated deviations.
  let findings: [Check]

  /// The earlier of its end dates; nil if it has no end date.
  public var expiry: Timestamp? { [nextUpdate, notAfter].compactMap { $0 }.min() }

  /// One issuing authority.
  public struct Entry: Sendable {
    /// The index in the received list, from 1.
    public let number: Int
    public let certificate: Certificate
    public let docTypes: [String]
    /// URNs of the certificate's profiles, as stated by the list.
    public let profiles: [String]
    public let issuingAuthority: String?
  }
}

extension VICALContents {
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

struct VICALMembers {
  private let map: CBORItem

  init(_ item: CBORItem) throws(TrustListError) {
    guard item.kind == .map else { throw .malformed("it is not a map") }
    map = item
  }

  func text(_ name: String) throws(TrustListError) -> String? { try value(name, "a text") { $0.text } }

  func bytes(_ name: String) throws(TrustListError) -> ArraySlice<UInt8>? {
    try value(name, "a byte string") { $0.bytes }
  }

  /// A `tdate`: tag 0 with an RFC 3339 time.
  func time(_ name: String) throws(TrustListError) -> Timestamp? {
    try value(name, "a time") { $0.content(ofTag: 0)?.text.flatMap(Timestamp.init(rfc3339:)) }
  }

  func unsigned(_ name: String) throws(TrustListError) -> UInt64? {
    try value(name, "an unsigned integer") { $0.unsigned }
  }

  /// A number's octets without leading zeros. The standard requires tag 2, but some lists have small numbers as
  /// integers.
  func bigUnsigned(_ name: String) throws(TrustListError) -> ArraySlice<UInt8>? {
    try value(name, "an unsigned number") { item in
      if let octets = item.content(ofTag: 2)?.bytes { return octets.drop { $0 == 0 } }
      return item.unsigned.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) }.drop { $0 == 0 } }
    }
  }

  func texts(_ name: String) throws(TrustListError) -> [String]? {
    try value(name, "a list of texts") { item in
      let elements = item.elements.map { Array($0) } ?? []
      let texts = elements.compactMap(\.text)
      return texts.isEmpty || texts.count != elements.count ? nil : texts
    }
  }

  func items(_ name: String) throws(TrustListError) -> CBORChildren? { try value(name, "an array") { $0.elements } }

  func requireMap(_ name: String) throws(TrustListError) { _ = try value(name, "a map") { $0.kind == .map ? $0 : nil } }

  private func value<Value>(
    _ name: String, _ type: String, _ read: (CBORItem) -> Value?
  ) throws(TrustListError) -> Value? {
    guard let item = map[key: name] else { return nil }
    guard let value = read(item) else { throw .malformed("\(name) is not \(type)") }
    return value
  }

  /// The name of the member in this map: published lists write some names with a capital letter.
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

  /// Reads an entry; nil, with the reason recorded, if the entry is omitted.
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
    } catch {
      findings.note(.listEntryMalformed, "entry \(number): \(error.detail)")
      return nil
    }
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

  // MARK: The entry's copies of its certificate's fields

  /// Finds the members that differ from their certificate's fields (C.1.7.1).
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

  /// Reports a country or state that differs from the certificate's. The entry must have the authority's (C.1.7.1).
  private mutating func compareAuthority(_ members: VICALMembers, _ entry: VICALContents.Entry) throws(TrustListError) {
    let subject = entry.certificate.subject
    let comparisons = [
      ("issuingCountry", try members.text("issuingCountry"), subject.country),
      ("stateOrProvinceName", try members.text("stateOrProvinceName"), subject.stateOrProvince),
    ]
    for (name, stated, own) in comparisons {
      guard let stated, let own, !stated.isEmpty, !stated.hasSameBytes(as: own) else { continue }
      findings.note(.listDeviation, "entry \(entry.number): \(name) differs from its certificate's")
    }
  }

  /// Tolerates the times of a twelve-hour clock, which occur in one published list. The certificate's own times apply.
  private mutating func isEqual(_ stated: Timestamp?, _ own: Timestamp) -> Bool {
    guard let stated, stated != own else { return true }
    guard stated.date == own.date, stated + 43_200 == own || stated - 43_200 == own else { return false }
    findings.note(.listDeviation, "times are on a twelve-hour clock")
    return true
  }

  private mutating func differenceInKeyIdentifier(
    _ members: VICALMembers, _ certificate: Certificate
  ) throws(TrustListError) -> [String] {
    let stated = try VICALMembers.required(members.bytes("ski"), "ski")
    guard let own = certificate.extensions.subjectKeyIdentifier else {
      // The provider has computed its own identifier, which does not contradict the certificate.
      findings.note(.listDeviation, "certificates have no subject key identifier for ski")
      return []
    }
    if stated.elementsEqual(own) { return [] }
    // One published list has the extension's DER instead, as some libraries return it.
    guard withoutOctetStringHeads(stated).elementsEqual(own) else { return ["ski"] }
    findings.note(.listDeviation, "ski is wrapped in OCTET STRING")
    return []
  }

  /// The content of a short OCTET STRING. The string may be inside another one.
  private func withoutOctetStringHeads(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    for _ in 0..<2 where rest.count > 2 && rest.first == 0x04 && Int(rest[rest.startIndex + 1]) == rest.count - 2 {
      rest = rest.dropFirst(2)
    }
    return rest
  }

  /// Rejects a certificate that no path could end in. Its validity is checked later, when the authority is used.
  private func requireAuthority(_ certificate: Certificate) throws(TrustListError) {
    guard certificate.extensions.isCA, certificate.extensions.keyUsage?.contains(.keyCertSign) ?? true else {
      throw .malformed("the certificate does not belong to a certification authority")
    }
    guard certificate.publicKey != nil else { throw .malformed("the certificate's key is not on a known curve") }
  }
}
