import Base
import CBOR
import Cryptography

/// A VICAL that is still to be made (ISO/IEC 18013-5, C.1.7): its signer, the list's members, its entries.
struct VICALDraft: Sendable {
  let authority: MockAuthority
  let now: Timestamp
  var signer: MockSigner
  /// The list's members, without `certificateInfos`.
  var list: MapDraft
  var entries: [CBORValue]
  /// Changes the payload's bytes before they are signed.
  var changePayload: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  /// Changes the COSE_Sign1 before it is signed.
  var changeMessage: @Sendable (inout COSESign1Draft) -> Void = { _ in }
  /// Changes the four parts of the signed COSE_Sign1.
  var changeParts: @Sendable (inout [CBORValue]) -> Void = { _ in }
  /// Changes the finished bytes.
  var changeBytes: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// A right list of the day. Its entries are the good authority and one that is trusted for vehicle registrations.
  init(authority: MockAuthority, at now: Timestamp) throws {
    self.authority = authority
    self.now = now
    signer = try MockSigner(.vicals, authority: authority, under: authority.vicalProvider(), at: now)
    let date = Timestamp(date: now.date)
    list = MapDraft([
      ("version", "1.0"), ("vicalProvider", "mdoc Mock"), ("date", .time(date)),
      ("vicalIssueID", .unsigned(UInt64(max(date.secondsSince1970 / Seconds.day, 0)))),
      ("nextUpdate", .time(date + 2 * Seconds.day)),
    ])
    entries = []
    for kind in [AnchorKind.good, .otherDocType] { entries.append(try entry(of: kind)) }
  }

  func entry(of kind: AnchorKind) throws -> CBORValue {
    let template = try authority.anchorTemplate(kind, at: now)
    return try entry(template, signedBy: authority.certificateIssuer(kind), docTypes: kind.docTypes).value
  }

  /// An entry with all members that describe its certificate.
  func entry(
    _ template: CertificateTemplate, signedBy issuer: CertificateIssuer, docTypes: [String]
  ) throws -> MapDraft {
    MapDraft([
      ("certificate", .bytes(try template.signed(by: issuer.key))),
      ("serialNumber", .tagged(2, .bytes(template.serialNumber(signedBy: issuer.key)))),
      ("ski", .bytes(issuer.keyIdentifier)), ("docType", .array(docTypes.map { .text($0) })),
      ("certificateProfile", ["urn:oid:1.0.18013.5.1.7"]), ("issuingAuthority", "mdoc Mock Issuing Authority"),
      ("issuingCountry", .text(authority.country)), ("stateOrProvinceName", .text(authority.stateOrProvince)),
      ("issuer", .bytes(template.issuer.der)), ("subject", .bytes(template.subject.der)),
      ("notBefore", .time(template.notBefore)), ("notAfter", .time(template.notAfter)), ("extensions", .map([])),
    ])
  }

  /// Changes the good authority's entry.
  mutating func changeEntry(_ change: (inout MapDraft) throws -> Void) rethrows {
    var entry = MapDraft(entries.first)
    try change(&entry)
    entries[0] = entry.value
  }

  /// The COSE_Sign1 before it is signed.
  func message() throws -> COSESign1Draft {
    var content = list
    content.entries.append(("certificateInfos", .array(entries)))
    var message = COSESign1Draft(
      payload: changePayload(content.value.encoded()), isDetached: false, key: signer.key)
    message.unprotected[33] = try signer.x5chain()
    changeMessage(&message)
    return message
  }

  func encoded() throws -> [UInt8] {
    var parts = try message().parts()
    changeParts(&parts)
    return changeBytes(CBORValue.array(parts).encoded())
  }
}

extension CBORValue {
  /// A `tdate`.
  static func time(_ time: Timestamp) -> CBORValue { .tagged(0, .text(time.description)) }
}

// Lists that are wrong as a whole.

extension MockVICAL {
  static let headers = [
    MockVICAL(
      "vical-algorithm-unprotected", "The algorithm is in the unprotected header.", cases: "V01",
      .listAlgorithmUnsupported
    ) {
      $0.changeMessage = {
        $0.unprotected[1] = $0.protected[1]
        $0.protected = MapDraft()
      }
    },
    MockVICAL(
      "vical-algorithm-of-another-key", "The algorithm is that of another curve.", cases: "V01",
      .listAlgorithmUnsupported
    ) {
      let identifier = COSEAlgorithm.signature(for: $0.authority.issuerCurve == .p384 ? .p256 : .p384)
      $0.changeMessage = { $0.protected[1] = .integer(identifier) }
    },
    MockVICAL(
      "vical-algorithm-unknown", "The algorithm is none that the standard has.", cases: "V01",
      .listAlgorithmUnsupported
    ) { $0.changeMessage = { $0.protected[1] = .integer(-65_535) } },
    MockVICAL("vical-critical", "A header parameter that nobody knows is critical.", .listCriticalExtension) {
      $0.changeMessage = {
        $0.protected[2] = ["org.example"]
        $0.protected["org.example"] = true
      }
    },
  ]

  static let structures = [
    malformed("vical-trailing-byte", "A byte follows it.") { $0.changeBytes = { $0 + [0x00] } },
    malformed("vical-truncated", "Its last byte is missing.") { $0.changeBytes = { $0.dropLast() } },
    malformed("vical-tagged", "It is tagged as COSE_Sign1.") { $0.changeBytes = { [0xd2] + $0 } },
    malformed("vical-detached", "The payload is detached.") { $0.changeMessage = { $0.presentedPayload = .null } },
    malformed("vical-embedded", "The payload is inside tag 24.") {
      $0.changePayload = { CBORValue.tagged(24, .bytes($0)).encoded() }
    },
    malformed("vical-payload-trailing-byte", "A byte follows the list inside the payload.") {
      $0.changePayload = { $0 + [0x00] }
    },
    malformed("vical-duplicate-member", "Its date stands twice.") { $0.list.duplicate("date") },
    malformed("vical-without-version", "It has no version.") { $0.list["version"] = nil },
    malformed("vical-without-provider", "It does not name its provider.") { $0.list["vicalProvider"] = nil },
    malformed("vical-without-date", "It has no date.") { $0.list["date"] = nil },
    malformed("vical-date-without-tag", "Its date is text alone.") {
      $0.list["date"] = .text($0.now.description)
    },
    malformed("vical-number-of-text", "Its number is text.") { $0.list["vicalIssueID"] = "1" },
    MockVICAL("vical-version-2", "It is of version 2.0.", .listVersionUnsupported) { $0.list["version"] = "2.0" },
    MockVICAL("vical-too-large", "It is larger than any verifier here takes.", .listTooLarge) {
      $0.list["org.example"] = .bytes([UInt8](repeating: 0, count: Limits.listBytes))
    },
    MockVICAL("vical-too-many-items", "It has more items than any verifier here takes.", .listTooLarge) {
      $0.list["org.example"] = .array([CBORValue](repeating: 0, count: Limits.cborItems))
    },
  ]

  static let times = [
    MockVICAL("vical-future", "It is dated in the future, beyond any clock's error.", .listIssuedInFuture) {
      $0.list["date"] = .time($0.now + Limits.clockSkew + 1)
      $0.list["nextUpdate"] = .time($0.now + 2 * Seconds.day)
    },
    MockVICAL("vical-expired", "The next update was due a second ago.", cases: "V03", .listExpired) {
      $0.list["date"] = .time($0.now - Seconds.day)
      $0.list["nextUpdate"] = .time($0.now - 1)
    },
    MockVICAL("vical-ended", "It was to be used until a second ago.", cases: "V03", .listExpired) {
      $0.list["date"] = .time($0.now - Seconds.day)
      $0.list["notAfter"] = .time($0.now - 1)
    },
    MockVICAL("vical-older", "It is a second older than the good one.", cases: "V02", .listRollback, followsGood: true)
    {
      $0.list["date"] = .time(Timestamp(date: $0.now.date) - 1)
    },
    MockVICAL(
      "vical-older-number", "It is of the good one's time, under a lower number.", cases: "V02", .listRollback,
      followsGood: true
    ) { $0.list["vicalIssueID"] = 1 },
  ]

  private static func malformed(
    _ name: String, _ summary: String, _ change: @escaping MockChange<VICALDraft>
  ) -> MockVICAL {
    MockVICAL(name, summary, .listMalformed, change)
  }
}

// Lists with a wrong entry. Only that entry is skipped.

extension MockVICAL {
  static let entries = [
    skipped("vical-entry-certificate-cut", "An entry's certificate lacks its last byte.") {
      $0["certificate"] = .bytes($0.bytes("certificate").dropLast())
    },
    skipped("vical-entry-without-certificate", "An entry has no certificate.") { $0["certificate"] = nil },
    skipped("vical-entry-without-number", "An entry does not state the serial number.") { $0["serialNumber"] = nil },
    skipped("vical-entry-number-negative", "An entry states a negative serial number.") { $0["serialNumber"] = -1 },
    skipped("vical-entry-without-identifier", "An entry does not state the key identifier.") { $0["ski"] = nil },
    skipped("vical-entry-without-doc-types", "An entry lists no document type.") { $0["docType"] = [] },
    skipped("vical-entry-doc-type-of-bytes", "A document type of an entry is no text.") {
      $0["docType"] = [.text(MockDocType.mDL), .bytes([0x01])]
    },
    skipped("vical-entry-time-without-tag", "A time of an entry is text alone.") { $0["notAfter"] = "2040-01-01" },
    skipped("vical-entry-extensions-of-text", "The extensions of an entry are no map.") { $0["extensions"] = "none" },
    MockVICAL(
      "vical-entry-no-map", "An entry is an array.", warnings: [.listEntryMalformed], documentCode: .issuerUnknown
    ) { $0.entries[0] = [] },
    MockVICAL("vical-entry-signer", "An entry is a document signer's.", warnings: [.listEntryMalformed]) {
      let signer = try MockSigner(
        authority: $0.authority, under: $0.authority.certificateIssuer(.good), at: $0.now)
      $0.entries.append(try $0.entry(of: signer))
    },
    MockVICAL("vical-entry-not-ca", "An entry's certificate has no CA flag.", warnings: [.listEntryMalformed]) {
      $0.entries.append(try $0.entry(of: .notCA))
    },
  ]

  static let mismatches = [
    MockVICAL("vical-entry-state-empty", "An entry leaves the authority's state empty.") {
      $0.changeEntry { $0["stateOrProvinceName"] = "" }
    },
    MockVICAL("vical-entry-twice", "The authority stands on the list twice, for a document type each time.") {
      var again = MapDraft(try $0.entry(of: .good))
      again["docType"] = [.text("org.example.other")]
      $0.entries.append(again.value)
    },
    differing("serial-number", "the serial number") { $0["serialNumber"] = 7 },
    differing("identifier", "the key identifier") { $0["ski"] = .bytes($0.bytes("ski").flipped) },
    ofAuthority("country", "the country") { $0["issuingCountry"] = "UT" },
    ofAuthority("state", "the state") { $0["stateOrProvinceName"] = "US-XX" },
    differing("issuer", "the issuer") { $0["issuer"] = .bytes($0.bytes("issuer").flippedAtEnd) },
    differing("subject", "the subject") { $0["subject"] = .bytes($0.bytes("subject").flippedAtEnd) },
    differing("not-before", "the beginning of validity") { $0["notBefore"] = .time(Timestamp(secondsSince1970: 0)) },
    differing("not-after", "the end of validity") { $0["notAfter"] = .time(Timestamp(secondsSince1970: 0)) },
    MockVICAL(
      "vical-entry-other-day", "An entry states validity from twelve hours before its certificate's, a day earlier.",
      warnings: [.listEntryMismatch], documentCode: .issuerUnknown
    ) {
      let from = try $0.authority.anchorTemplate(.good, at: $0.now).notBefore
      $0.changeEntry { $0["notBefore"] = .time(from - 12 * Seconds.hour) }
    },
  ]

  private static func skipped(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout MapDraft) -> Void
  ) -> MockVICAL {
    MockVICAL(name, summary, warnings: [.listEntryMalformed], documentCode: .issuerUnknown) { $0.changeEntry(change) }
  }

  /// A member of an entry that describes the authority and is no copy of a value in its certificate.
  private static func ofAuthority(
    _ name: String, _ member: String, _ change: @escaping @Sendable (inout MapDraft) -> Void
  ) -> MockVICAL {
    MockVICAL(
      "vical-entry-other-\(name)", "An entry states another \(name) of the authority than its certificate.",
      warnings: [.listDeviation]
    ) { $0.changeEntry(change) }
  }

  private static func differing(
    _ name: String, _ member: String, _ change: @escaping @Sendable (inout MapDraft) -> Void
  ) -> MockVICAL {
    MockVICAL(
      "vical-entry-other-\(name)", "An entry states \(member) otherwise than its certificate.",
      warnings: [.listEntryMismatch], documentCode: .issuerUnknown
    ) { $0.changeEntry(change) }
  }
}

extension VICALDraft {
  /// An entry that describes a document signer's certificate rightly.
  fileprivate func entry(of signer: MockSigner) throws -> CBORValue {
    let template = signer.certificate
    let subject = CertificateIssuer(name: template.subject, key: signer.key)
    var entry = try entry(template, signedBy: subject, docTypes: [MockDocType.mDL])
    entry["certificate"] = .bytes(try template.signed(by: signer.issuerKey))
    entry["serialNumber"] = .tagged(2, .bytes(template.serialNumber(signedBy: signer.issuerKey)))
    return entry.value
  }
}
