import CLibCBOR

/// CBOR to be written, with the shortest heads, definite lengths, and map entries in the given order. Hashes of
/// handovers depend on this encoding.
///
/// `encoded` inserts bytes that are already CBOR, such as a received item.
package enum CBORValue: Sendable {
  case unsigned(UInt64)
  /// −1−n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([(key: CBORValue, value: CBORValue)])
  indirect case tagged(UInt64, CBORValue)
  case bool(Bool)
  case null
  case double(Double)
  case encoded([UInt8])

  package static func integer(_ value: Int64) -> CBORValue {
    value >= 0 ? .unsigned(UInt64(value)) : .negative(UInt64(-1 - value))
  }

  /// Tag 24 around a byte string that contains the item: `#6.24(bstr .cbor item)`.
  package static func embedded(_ item: CBORValue) -> CBORValue { .tagged(24, .bytes(item.encoded())) }

  package func encoded() -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(256)
    append(to: &output)
    return output
  }

  package func append(to output: inout [UInt8]) {
    switch self {
    case .unsigned(let value): CBORHead.append(to: &output) { cbor_encode_uint(value, $0, $1) }
    case .negative(let value): CBORHead.append(to: &output) { cbor_encode_negint(value, $0, $1) }
    case .bytes(let bytes):
      CBORHead.appendBytes(count: bytes.count, to: &output)
      output += bytes
    case .text(let text): CBORHead.appendText(text, to: &output)
    case .array(let elements):
      CBORHead.appendArray(count: elements.count, to: &output)
      for element in elements { element.append(to: &output) }
    case .map(let entries):
      CBORHead.append(to: &output) { cbor_encode_map_start(entries.count, $0, $1) }
      for entry in entries {
        entry.key.append(to: &output)
        entry.value.append(to: &output)
      }
    case .tagged(let number, let content):
      CBORHead.appendTag(number, to: &output)
      content.append(to: &output)
    case .bool(let value): CBORHead.append(to: &output) { cbor_encode_bool(value, $0, $1) }
    case .null: CBORHead.append(to: &output) { cbor_encode_null($0, $1) }
    case .double(let value): CBORHead.append(to: &output) { cbor_encode_double(value, $0, $1) }
    case .encoded(let bytes): output += bytes
    }
  }
}

/// Writes heads in shortest form, so that a structure can surround bytes without copying them first.
package enum CBORHead {
  package static func appendArray(count: Int, to output: inout [UInt8]) {
    append(to: &output) { cbor_encode_array_start(count, $0, $1) }
  }

  package static func appendBytes(count: Int, to output: inout [UInt8]) {
    append(to: &output) { cbor_encode_bytestring_start(count, $0, $1) }
  }

  package static func appendText(_ text: String, to output: inout [UInt8]) {
    append(to: &output) { cbor_encode_string_start(text.utf8.count, $0, $1) }
    output += text.utf8
  }

  package static func appendTag(_ number: UInt64, to output: inout [UInt8]) {
    append(to: &output) { cbor_encode_tag(number, $0, $1) }
  }

  /// The longest head is nine bytes.
  static func append(to output: inout [UInt8], _ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { buffer in
      let length = encode(buffer.baseAddress, buffer.count)
      output.append(contentsOf: buffer[..<length])
    }
  }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
    self = .map(elements.map { (key: $0.0, value: $0.1) })
  }
  package init(nilLiteral: ()) { self = .null }
}

extension CBORValue {
  /// Converts a parsed item, for tests that compare the reader with the writer. Nil for narrow floats and `undefined`,
  /// which are never written.
  package init?(_ item: CBORItem) {
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
      let values = (item.elements.map { Array($0) } ?? []).compactMap { CBORValue($0) }
      guard values.count == item.count else { return nil }
      self = .array(values)
    case .map:
      let values = (item.entries.map { Array($0) } ?? []).compactMap { entry in
        CBORValue(entry.key).flatMap { key in CBORValue(entry.value).map { (key: key, value: $0) } }
      }
      guard values.count == item.count else { return nil }
      self = .map(values)
    case .tag:
      guard let number = item.tag, let content = item.content(ofTag: number).flatMap({ CBORValue($0) }) else {
        return nil
      }
      self = .tagged(number, content)
    }
  }
}
