import Base
import CBOR
import PKIX
import Trust
import Vectors

/// The status lists of the Token Status List draft: every entry of every list, in both forms.
struct StatusListSet: PublishedSet {
  let name = "token-status-list"

  private static let expectations = "expected.json"
  /// Tokens that name no certificate, so their signer cannot be checked against anchors.
  private static let unattributed = ["referenced_token_cwt.cbor", "status_list.jwt", "status_list_cwt.cbor"]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.expectations) && folder.has("status_list.jwt") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for list in try folder.json(Self.expectations).array ?? [] {
      guard let entries = list["entries"]?.integer, let bits = list["bits"]?.integer else {
        throw SuiteError(path: folder.path, problem: "has expectations that can't be read")
      }
      let expected = Self.entries(of: list)
      let files = (cbor: list["cbor"]?.string ?? "", json: list["json"]?.string ?? "")
      let (cbor, json) = (try folder.read(files.cbor), try folder.read(files.json))
      cases.append(
        Self.makeCase(files.cbor, "\(entries) entries of \(bits) bits.") {
          guard let statuses = Self.statuses(cbor, isCBOR: true) else { return .refused() }
          return Self.finding(statuses, entries: UInt64(entries), expected: expected)
        })
      cases.append(
        Self.makeCase(files.json, "The same entries in JSON.") {
          guard let statuses = Self.statuses(json, isCBOR: false) else { return .refused() }
          return statuses == Self.statuses(cbor, isCBOR: true) ? .accepted : .other("its entries are others")
        })
    }
    for file in Self.unattributed where folder.has(file) {
      cases.append(Self.makeCase(file, "Signed, without a certificate.") { .skipped("it names no certificate") })
    }
    return cases
  }

  private static func makeCase(
    _ id: String, _ description: String, _ judge: @escaping () -> PublishedCase.Finding
  ) -> PublishedCase {
    PublishedCase(
      id, description, reference: "Token Status List, 4", codes: [], judge: judge)
  }

  /// The expected entries that are not zero, by index.
  private static func entries(of list: JSON) -> [UInt64: UInt8] {
    var entries: [UInt64: UInt8] = [:]
    let values = list["values"]?.array ?? []
    let all = values.enumerated().map { (Int64($0.offset), $0.element.integer) }
    let listed = (list["nonZero"]?.array ?? []).map { ($0.array?.first?.integer ?? -1, $0.array?.last?.integer) }
    for (index, value) in all + listed where value != 0 {
      guard let index = UInt64(exactly: index), let value = value.flatMap({ UInt8(exactly: $0) }) else { continue }
      entries[index] = value
    }
    return entries
  }

  private static func statuses(_ bytes: [UInt8], isCBOR: Bool) -> PackedStatuses? {
    if isCBOR {
      guard let item = try? CBORItem(parsing: bytes), let list = item[key: "lst"]?.bytes else { return nil }
      return try? PackedStatuses(bits: item[key: "bits"]?.integer, list: list)
    }
    guard let json = try? JSON(parsing: bytes), let list = json["lst"]?.string.flatMap(Base64.decodeURLSafe) else {
      return nil
    }
    return try? PackedStatuses(bits: json["bits"]?.integer, list: list)
  }

  private static func finding(
    _ statuses: PackedStatuses, entries: UInt64, expected: [UInt64: UInt8]
  ) -> PublishedCase.Finding {
    guard statuses.count == Int(entries), statuses[entries] == nil else { return .other("another number of entries") }
    for index in 0..<entries where statuses[index] != expected[index, default: 0] {
      return .other("entry \(index) is another")
    }
    return expected.isEmpty ? .other("nothing was expected of it") : .accepted
  }
}

/// The VICALs that AAMVA's digital trust service published: each verified while it was current, and later.
struct VICALSet: PublishedSet {
  let name = "vical"

  private static let first = "aamva-vical-2024-09-24"
  private static let second = "aamva-vical-2025-11-18-1763491092481"
  private static let issued = [first: "2024-09-24T17:37:31Z", second: "2025-11-18T18:38:12Z"]

  private struct Example {
    let id: String
    let description: String
    let list: String
    /// Seconds after the list was issued.
    var age: Int64 = 0
    var root = "aamva-dts-root.pem"
    /// The file of the list that was accepted before; nil if there is none.
    var before: String?
    var isTampered = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "2024", description: "Three authorities, when it was issued.", list: first),
    Example(id: "2025", description: "Fourteen authorities, when it was issued.", list: second),
    Example(id: "2025-after-2024", description: "The next list.", list: second, before: first),
    Example(id: "last-second", description: "The last second before the next update.", list: second, age: 86_400),
    Example(
      id: "expired", description: "One second after the next update was due.", list: second, age: 86_401,
      codes: [.listExpired]),
    Example(
      id: "issued-in-future", description: "More than the clock skew before it was issued.", list: second, age: -61,
      codes: [.listIssuedInFuture]),
    Example(
      id: "rollback", description: "The older list after the newer one.", list: first, before: second,
      codes: [.listRollback]),
    Example(
      id: "tampered", description: "The last byte of the signature is changed.", list: second, isTampered: true,
      codes: [.listSignatureInvalid]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.first + ".cbor") && folder.has(Self.second + ".cbor") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for example in Self.examples {
      let root = PEM.certificates(in: String(decoding: try folder.read(example.root), as: UTF8.self))?.first ?? []
      guard let anchor = try? Certificate(der: root), let issued = Self.time(example.list) else {
        throw SuiteError(path: folder.path, problem: "has a root that can't be read")
      }
      let reader = VICALVerifier(
        source: TrustListSource(signers: .init(configured: [anchor], allowsTestCertificates: false)))
      var list = try folder.read(example.list + ".cbor")
      if example.isTampered, let last = list.indices.last { list[last] ^= 1 }
      var before: AcceptedListMark?
      if let earlier = example.before, let time = Self.time(earlier) {
        before = reader.evaluate(try folder.read(earlier + ".cbor"), at: time).accepted
      }
      cases.append(
        PublishedCase(
          example.id, example.description, reference: "ISO/IEC 18013-5:2021, Annex C", codes: example.codes,
          judge: { [list, before] in
            let evaluation = reader.evaluate(list, at: issued + example.age, after: before)
            if evaluation.isAccepted { return .accepted }
            return .refused(evaluation.checks.filter { $0.outcome == .failed }.map(\.code))
          }))
    }
    return cases
  }

  private static func time(_ list: String) -> Timestamp? { issued[list].flatMap(Timestamp.init(rfc3339:)) }
}

/// Lists of trusted entities that were published without a signature. They can be read, but never trusted.
struct TrustedEntityListSet: PublishedSet {
  let name = "lote"

  private static let providers = "eudi-refimpl-pid-providers-2026-03-16.json"
  private static let registrars = "webuild-wrpac-providers-lote.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.providers) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for file in [Self.providers, Self.registrars] where folder.has(file) {
      let bytes = try folder.read(file)
      cases.append(
        PublishedCase(
          file, "The payload is read.", reference: "ETSI TS 119 602, 6", codes: [],
          judge: { PublishedCase.Finding(isAccepted: (try? TrustedEntityList(parsing: bytes)) != nil) }))
    }
    let bytes = try folder.read(Self.providers)
    cases.append(
      PublishedCase(
        "profile", "The profile of providers of person identification data is not kept: services have no type.",
        reference: "ETSI TS 119 602, Annex D", codes: [.listDeviation],
        judge: {
          guard let list = try? TrustedEntityList(parsing: bytes) else { return .other("it can't be read") }
          return TrustedEntityListProfile.pidProviders.deviations(of: list).isEmpty
            ? .accepted : .refused([.listDeviation])
        }))
    return cases
  }
}
