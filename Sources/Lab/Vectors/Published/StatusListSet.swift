import Base
import CBOR
import Trust

/// The status lists of the Token Status List draft: every entry of every list, in both forms.
struct StatusListSet: PublishedSet {
  let name = "token-status-list"

  private static let expectations = "expected.json"
  /// They name no certificate, so that nobody can be asked whether their signer is trusted.
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

  /// The entries that are not zero.
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
