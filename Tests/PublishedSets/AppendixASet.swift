import Base
import CBOR
import Vectors

/// The examples of RFC 8949, appendix A, as the CBOR working group publishes them. Each is decoded, shown in diagnostic
/// notation and written again.
struct AppendixASet: PublishedSet {
  let name = "cbor"

  private static let file = "appendix_a.json"
  /// Our notation if it differs from the appendix's: we show embedded CBOR as CBOR, and join chunks.
  private static let ownNotation = [
    "24(h'6449455446')": "24(<<\"IETF\">>)",
    "(_ h'0102', h'030405')": "h'0102030405'",
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    (try folder.json(Self.file).array ?? []).enumerated().map { index, example in
      PublishedCase(
        part: "", id: "\(index + 1)",
        description: "\(example["diagnostic"]?.string ?? example["hex"]?.string ?? "").",
        reference: "RFC 8949, appendix A", flag: VectorFlag("CBOR", .parserDifferential), expectation: .accepted,
        judge: { Self.finding(on: example) })
    }
  }

  private static func finding(on example: JSON) -> PublishedCase.Finding {
    let encoded = example.hex("hex")
    let notation = example["diagnostic"]?.string
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: encoded)
    } catch {
      let isSimple = notation?.hasPrefix("simple(") ?? false
      return isSimple ? .skipped("simple values without a meaning are refused") : .refused([error.code])
    }
    guard Array(item.encoded) == encoded else { return .other("it ends elsewhere") }
    if let notation {
      let shown = CBORDiagnostic(showsValues: true).describe(item)
      guard same(shown, ownNotation[notation] ?? notation) else { return .other("it is shown as \(shown)") }
    } else if !(example["decoded"] ?? .null).isValue(of: item) {
      return .other("it has another value")
    }
    // The writer has one width of float and no `undefined`, so some examples have no `CBORValue`.
    guard example["roundtrip"]?.bool == true, let value = CBORValue(item) else { return .accepted }
    return value.encoded() == encoded ? .accepted : .other("it is written as other bytes")
  }

  private static func same(_ one: String, _ other: String) -> Bool {
    one.filter { !$0.isWhitespace } == other.filter { !$0.isWhitespace }
  }
}

extension JSON {
  /// Whether the item has the value that the example gives in JSON.
  fileprivate func isValue(of item: CBORItem) -> Bool {
    switch self {
    case .null: return item.isNull
    case .written: return false
    case .bool(let value): return item.bool == value
    case .integer(let value): return item.integer == value || item.double == Double(value)
    case .largeInteger(let digits): return item.digits == digits
    case .double(let value): return item.double == value
    case .string(let value): return item.text == value && item.isText(value)
    case .array(let values):
      guard let elements = item.elements, item.count == values.count else { return false }
      return zip(values, elements).allSatisfy { $0.isValue(of: $1) }
    case .object(let members):
      return item.count == members.count
        && members.allSatisfy { member in item[key: member.name].map(member.value.isValue) ?? false }
    }
  }
}
