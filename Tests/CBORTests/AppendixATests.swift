import FoundationEssentials
import Primitives
import TestSupport
import Testing

@testable import CBOR

/// The examples of RFC 8949, appendix A, as published by the CBOR working group.
@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct AppendixATests {
  struct Example: Decodable {
    let hex: HexBytes
    let roundtrip: Bool
    let decoded: JSONValue?
    let diagnostic: String?
  }

  /// Where our notation is another than the appendix's: embedded CBOR is shown as such, and chunks are joined.
  private static let ownNotation = [
    "24(h'6449455446')": "24(<<\"IETF\">>)",
    "(_ h'0102', h'030405')": "h'0102030405'",
  ]

  @Test func decodesEveryExampleButUnassignedSimpleValues() throws {
    let examples: [Example] = try PublishedVectors.json("cbor/appendix_a.json")
    var unsupported: [String] = []
    var wrong: [String] = []
    for example in examples {
      let name = example.diagnostic ?? Hex.encode(example.hex.bytes)
      do {
        let item = try CBORItem(parsing: example.hex.bytes)
        if !isRight(item, example) { wrong.append(name) }
      } catch {
        if error.code == .cborMalformed { unsupported.append(name) } else { wrong.append("\(name): \(error.code)") }
      }
    }
    #expect(wrong == [])
    #expect(unsupported == ["simple(16)", "simple(24)", "simple(255)"])
    #expect(examples.count == 82)
    print("appendix_a.json: \(examples.count - unsupported.count) passed, unsupported \(unsupported)")
  }

  private func isRight(_ item: CBORItem, _ example: Example) -> Bool {
    guard Array(item.encoded) == example.hex.bytes else { return false }
    if let notation = example.diagnostic {
      let expected = Self.ownNotation[notation] ?? notation
      let shown = CBORDiagnostic(showsValues: true).describe(item)
      guard shown.filter({ !$0.isWhitespace }) == expected.filter({ !$0.isWhitespace }) else { return false }
    } else {
      // JSON's null reads as nil.
      guard (example.decoded ?? .null).isValue(of: item) else { return false }
    }
    // The writer has one width of float, and none of `undefined`.
    guard example.roundtrip, let value = CBORValue(item) else { return true }
    return value.encoded() == example.hex.bytes
  }
}

/// What the vectors say in JSON.
indirect enum JSONValue: Decodable {
  case null, bool(Bool), unsigned(UInt64), signed(Int64), number(Double), text(String)
  case array([JSONValue]), object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .signed(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func isValue(of item: CBORItem) -> Bool {
    switch self {
    case .null: return item.isNull
    case .bool(let value): return item.bool == value
    case .unsigned(let value): return item.unsigned == value || item.double == Double(value)
    case .signed(let value): return item.integer == value || item.double == Double(value)
    case .number(let value): return item.double == value || bigNumber(item) == value
    case .text(let value): return item.text == value && item.isText(value)
    case .array(let values):
      guard let elements = item.elements, item.count == values.count else { return false }
      return zip(values, elements).allSatisfy { $0.isValue(of: $1) }
    case .object(let values):
      return item.count == values.count
        && values.allSatisfy { key, value in item[key: key].map(value.isValue) ?? false }
    }
  }

  /// Integers that no 64-bit type holds: major type 1 below its least, and bignums (tags 2 and 3).
  private func bigNumber(_ item: CBORItem) -> Double? {
    if let argument = item.negativeArgument { return -1 - Double(argument) }
    let magnitude = (item.content(ofTag: 2) ?? item.content(ofTag: 3))?.bytes?.reduce(0.0) { $0 * 256 + Double($1) }
    return magnitude.map { item.tag == 2 ? $0 : -1 - $0 }
  }
}

extension CBORValue {
  /// The item to be written again, or nil where the writer has no such form: narrow floats and `undefined`.
  init?(_ item: CBORItem) {
    switch item.kind {
    case .unsigned: self = .unsigned(item.unsigned ?? 0)
    case .negative: self = .negative(item.negativeArgument ?? 0)
    case .bytes: self = .bytes(Array(item.bytes ?? []))
    case .text: self = .text(item.text ?? "")
    case .bool: self = .bool(item.bool ?? false)
    case .null: self = .null
    case .undefined: return nil
    case .float:
      guard item.encoded.first == 0xfb else { return nil }
      self = .double(item.double ?? 0)
    case .array:
      let values = item.children.compactMap(CBORValue.init)
      guard values.count == item.count else { return nil }
      self = .array(values)
    case .map:
      let values = item.children.compactMap(CBORValue.init)
      guard values.count == (item.count ?? 0) * 2 else { return nil }
      self = .map(stride(from: 0, to: values.count, by: 2).map { (key: values[$0], value: values[$0 + 1]) })
    case .tag:
      guard let number = item.tag, let content = item.content(ofTag: number).flatMap(CBORValue.init) else {
        return nil
      }
      self = .tagged(number, content)
    }
  }
}
