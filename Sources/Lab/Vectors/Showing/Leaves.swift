import Base
import CBOR

/// One value without parts, and its path.
struct Leaf {
  /// `documents[0].issuerSigned.issuerAuth[2].version`.
  let path: String
  /// Equal for equal leaves: the path without indices, the tags around the value, and the value.
  let identity: String
  let tags: String
  let value: Value

  enum Value {
    case text(String)
    case bytes([UInt8])
  }
}

/// The leaves of CBOR or JSON, including CBOR in byte strings, such as a protected header or a payload.
struct Leaves {
  private(set) var all: [Leaf] = []

  /// Maximum number of leaves to compare.
  static let limit = 4_000

  /// Nil if the content is not CBOR, or has too many leaves.
  init?(cbor bytes: [UInt8]) {
    let limits = CBORLimits(bytes: 8 << 20, items: 1 << 20, depth: 64)
    guard let item = try? CBORItem(parsing: bytes, limits: limits) else { return nil }
    add(item, "", "", "")
    guard all.count <= Self.limit else { return nil }
  }

  init?(json: JSON) {
    add(json, "", "")
    guard all.count <= Self.limit else { return nil }
  }

  private mutating func add(_ value: Leaf.Value, _ path: String, _ shape: String, _ tags: String) {
    let text =
      switch value {
      case .text(let text): text
      case .bytes(let bytes): Hex.encode(bytes)
      }
    all.append(Leaf(path: path, identity: "\(shape) \(tags) \(text)", tags: tags, value: value))
  }

  // MARK: CBOR

  private mutating func add(_ item: CBORItem, _ path: String, _ shape: String, _ tags: String) {
    guard all.count <= Self.limit else { return }
    if let tag = item.tag {
      for content in [item.embedded ?? item.content(ofTag: tag)].compactMap({ $0 }) {
        add(content, path, shape, "\(tags)\(tag) ")
      }
    } else if let elements = item.elements, item.count != 0 {
      for (index, element) in elements.enumerated() { add(element, "\(path)[\(index)]", shape + "[]", tags) }
    } else if let entries = item.entries, item.count != 0 {
      for (key, value) in entries {
        let step = Self.step(key, isFirst: path.isEmpty)
        add(value, path + step, shape + step, tags)
      }
    } else if let bytes = item.bytes {
      if let inner = Self.structure(in: Array(bytes)) {
        add(inner, path, shape, tags + "bytes ")
      } else {
        add(.bytes(Array(bytes)), path, shape, tags)
      }
    } else {
      add(.text(CBORDiagnostic(showsValues: true).describe(item)), path, shape, tags)
    }
  }

  private static func step(_ key: CBORItem, isFirst: Bool) -> String {
    guard let name = key.text else { return "{\(CBORDiagnostic(showsValues: true).describe(key))}" }
    return step(name, isFirst: isFirst)
  }

  private static func step(_ name: String, isFirst: Bool) -> String {
    let isWord =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x5f
      }
    return isWord ? (isFirst ? name : ".\(name)") : "[\"\(name)\"]"
  }

  /// The map, array or tagged item in a byte string; nil if it contains something else.
  private static func structure(in bytes: [UInt8]) -> CBORItem? {
    guard let first = bytes.first, bytes.count > 1, (0x80...0xdb).contains(first),
      let item = try? CBORItem(parsing: bytes), item.tag != nil || item.count != 0
    else { return nil }
    return item
  }

  // MARK: JSON

  private mutating func add(_ json: JSON, _ path: String, _ shape: String) {
    guard all.count <= Self.limit else { return }
    if let members = json.object, !members.isEmpty {
      for member in members {
        let step = Self.step(member.name, isFirst: path.isEmpty)
        add(member.value, path + step, shape + step)
      }
    } else if let elements = json.array, !elements.isEmpty {
      for (index, element) in elements.enumerated() { add(element, "\(path)[\(index)]", shape + "[]") }
    } else if let text = json.string, text.utf8.count > 60, let bytes = Base64.decodeEither(text) {
      if let inner = Self.structure(in: bytes) {
        add(inner, path, shape, "base64 ")
      } else {
        add(.bytes(bytes), path, shape, "base64 ")
      }
    } else {
      add(.text(json.text()), path, shape, "")
    }
  }
}
