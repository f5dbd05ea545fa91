import CBOR

/// A valid style of CBOR encoding. Only `shortest` is deterministic (RFC 8949, 4.2).
enum EncodingStyle: String, Sendable {
  case shortest
  /// Heads have eight-byte arguments.
  case longForm
  /// Map entries are in reverse order.
  case reversed
  /// Arrays and maps have indefinite length.
  case indefinite
  /// Text strings are in chunks.
  case chunked

  func encode(_ value: CBORValue) -> [UInt8] {
    guard self != .shortest else { return value.encoded() }
    return switch value {
    case .unsigned(let number): head(0, number)
    case .negative(let number): head(1, number)
    case .bytes(let bytes): head(2, UInt64(bytes.count)) + bytes
    case .text(let text): encode(text: Array(text.utf8))
    case .array(let elements): container(4, elements.map(encode))
    case .map(let entries):
      container(5, (self == .reversed ? entries.reversed() : entries).map { encode($0.key) + encode($0.value) })
    case .tagged(let number, let content): head(6, number) + encode(content)
    case .bool, .null, .double, .encoded: value.encoded()
    }
  }

  /// `#6.24(bstr .cbor item)`.
  func embed(_ value: CBORValue) -> CBORValue { .encoded(encode(.tagged(24, .bytes(encode(value))))) }

  private func encode(text: [UInt8]) -> [UInt8] {
    guard self == .chunked, text.count > 1, text.allSatisfy({ $0 < 0x80 }) else {
      return head(3, UInt64(text.count)) + text
    }
    let chunks = [text[..<(text.count / 2)], text[(text.count / 2)...]]
    return [0x7f] + chunks.flatMap { head(3, UInt64($0.count)) + $0 } + [0xff]
  }

  private func head(_ major: UInt8, _ argument: UInt64) -> [UInt8] {
    guard self != .longForm else {
      return [major << 5 | 27] + (0..<8).map { UInt8(truncatingIfNeeded: argument >> (56 - 8 * $0)) }
    }
    var head = CBORValue.unsigned(argument).encoded()
    head[0] |= major << 5
    return head
  }

  private func container(_ major: UInt8, _ items: [[UInt8]]) -> [UInt8] {
    let content = items.flatMap { $0 }
    return self == .indefinite ? [major << 5 | 31] + content + [0xff] : head(major, UInt64(items.count)) + content
  }
}

/// A CBOR map with ordered entries and access by key. Duplicate keys are possible.
struct MapDraft: Sendable {
  var entries: [(key: CBORValue, value: CBORValue)] = []

  init(_ entries: [(key: CBORValue, value: CBORValue)] = []) { self.entries = entries }

  init(_ value: CBORValue?) {
    if case .map(let entries)? = value { self.entries = entries }
  }

  var value: CBORValue { .map(entries) }

  subscript(key: String) -> CBORValue? {
    get { self[CBORValue.text(key)] }
    set { self[CBORValue.text(key)] = newValue }
  }

  subscript(label: Int) -> CBORValue? {
    get { self[CBORValue.integer(Int64(label))] }
    set { self[CBORValue.integer(Int64(label))] = newValue }
  }

  subscript(key: CBORValue) -> CBORValue? {
    get {
      let encoded = key.encoded()
      return entries.first { $0.key.encoded() == encoded }?.value
    }
    set {
      let encoded = key.encoded()
      entries.set(newValue.map { (key, $0) }) { $0.key.encoded() == encoded }
    }
  }

  /// Changes the map under this key.
  mutating func nested(_ key: String, _ change: (inout MapDraft) throws -> Void) rethrows {
    var inner = MapDraft(self[key])
    try change(&inner)
    self[key] = inner.value
  }
}

extension Array {
  /// Replaces the first matching element, or appends the new element. Nil removes the matching element.
  mutating func set(_ element: Element?, where matches: (Element) -> Bool) {
    let index = firstIndex(where: matches)
    replaceSubrange((index ?? endIndex)..<(index.map { $0 + 1 } ?? endIndex), with: element.map { [$0] } ?? [])
  }
}
