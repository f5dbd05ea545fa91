import Base

/// What a store keeps as JSON: objects whose members have the names of the properties, without those that are nil.
///
/// Written by hand: a session is written and read with every request, and the encoders of Codable took more time than
/// the cryptography of a verification.
package protocol StoredValue {
  var storedJSON: JSON { get }
  /// Nil for JSON of another shape; members that this version does not know are passed over.
  init?(storedJSON: JSON)
}

/// How values are written into a store's columns.
package enum StoredForm {
  package static func encode(_ value: some StoredValue) -> [UInt8] { value.storedJSON.serialized() }

  package static func decode<Value: StoredValue>(_ type: Value.Type, from bytes: [UInt8]) throws(StoreError) -> Value {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = Value(storedJSON: json) else {
      throw .corrupt("\(type)")
    }
    return value
  }

  /// JSON whose members come back in their order. Earlier versions wrote it for readers that kept none: objects as
  /// arrays, `["o", name, value, …]`, and arrays as `["a", value, …]`. Neither is what is written now: an object.
  package static func decodeOrdered(_ bytes: [UInt8]) throws(StoreError) -> JSON {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = json.array == nil ? json : plain(json) else {
      throw .corrupt("JSON")
    }
    return value
  }

  /// The same for whoever does not look into it.
  package static func text(_ bytes: [UInt8]) throws(StoreError) -> JSONText {
    if bytes.first == UInt8(ascii: "[") { return JSONText(try decodeOrdered(bytes)) }
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { throw .corrupt("JSON") }
    return JSONText(written: bytes)
  }

  private static func plain(_ json: JSON) -> JSON? {
    guard case .array(let parts) = json else { return json.object == nil ? json : nil }
    var elements: [JSON] = []
    switch parts.first?.string {
    case "a":
      for part in parts.dropFirst() {
        guard let element = plain(part) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    case "o" where parts.count % 2 == 1:
      var members: [JSON.Member] = []
      for index in stride(from: 1, to: parts.count, by: 2) {
        guard let name = parts[index].string, let value = plain(parts[index + 1]) else { return nil }
        members.append(JSON.Member(name, value))
      }
      return .object(members)
    default: return nil
    }
  }
}
