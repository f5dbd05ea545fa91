import CBOR

/// A way in which a wallet or issuer writes CBOR. All are legal; only the first is deterministic (RFC 8949, 4.2).
enum EncodingStyle: Sendable {
  case shortest
  /// Every head has an eight-byte argument, if its kind allows one; map entries are in reverse order.
  case longForm
  /// Arrays and maps have indefinite length.
  case indefinite
  /// The same as `indefinite`, and text strings are in chunks.
  case chunked

  func encode(_ value: CBORValue) -> [UInt8] {
    guard self != .shortest else { return value.encoded() }
    var output: [UInt8] = []
    append(value, to: &output)
    return output
  }

  /// `#6.24(bstr .cbor item)`.
  func embed(_ value: CBORValue) -> CBORValue { .encoded(encode(.tagged(24, .bytes(encode(value))))) }

  private func append(_ value: CBORValue, to output: inout [UInt8]) {
    switch value {
    case .unsigned(let number): appendHead(0, number, to: &output)
    case .negative(let number): appendHead(1, number, to: &output)
    case .bytes(let bytes):
      appendHead(2, UInt64(bytes.count), to: &output)
      output += bytes
    case .text(let text): appendText(Array(text.utf8), to: &output)
    case .array(let elements):
      openContainer(4, count: elements.count, to: &output)
      for element in elements { append(element, to: &output) }
      closeContainer(&output)
    case .map(let entries):
      openContainer(5, count: entries.count, to: &output)
      for entry in self == .longForm ? entries.reversed() : entries {
        append(entry.key, to: &output)
        append(entry.value, to: &output)
      }
      closeContainer(&output)
    case .tagged(let number, let content):
      appendHead(6, number, to: &output)
      append(content, to: &output)
    case .bool, .null, .double, .encoded: value.append(to: &output)
    }
  }

  private func appendText(_ text: [UInt8], to output: inout [UInt8]) {
    guard self == .chunked, text.count > 1, text.allSatisfy({ $0 < 0x80 }) else {
      appendHead(3, UInt64(text.count), to: &output)
      output += text
      return
    }
    output.append(0x7f)
    for chunk in [text[..<(text.count / 2)], text[(text.count / 2)...]] {
      appendHead(3, UInt64(chunk.count), to: &output)
      output += chunk
    }
    output.append(0xff)
  }

  private func appendHead(_ major: UInt8, _ argument: UInt64, to output: inout [UInt8]) {
    if self == .longForm {
      output.append(major << 5 | 27)
      for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: argument >> shift)) }
      return
    }
    var head: [UInt8] = []
    CBORValue.unsigned(argument).append(to: &head)
    head[0] |= major << 5
    output += head
  }

  private func openContainer(_ major: UInt8, count: Int, to output: inout [UInt8]) {
    if self == .longForm { appendHead(major, UInt64(count), to: &output) } else { output.append(major << 5 | 31) }
  }

  private func closeContainer(_ output: inout [UInt8]) {
    if self != .longForm { output.append(0xff) }
  }
}

/// A CBOR map that is still to be made. Its entries keep their order and are found by key; a key may occur twice.
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
    get { index(of: key).map { entries[$0].value } }
    set {
      guard let index = index(of: key) else {
        if let newValue { entries.append((key, newValue)) }
        return
      }
      if let newValue { entries[index].value = newValue } else { entries.remove(at: index) }
    }
  }

  /// Changes the map under this key.
  mutating func nested(_ key: String, _ change: (inout MapDraft) throws -> Void) rethrows {
    var inner = MapDraft(self[key])
    try change(&inner)
    self[key] = inner.value
  }

  /// Adds the entry a second time, with the same value or another.
  mutating func duplicate(_ key: CBORValue, value: CBORValue? = nil) {
    if let value = value ?? self[key] { entries.append((key, value)) }
  }

  private func index(of key: CBORValue) -> Int? {
    let encoded = key.encoded()
    return entries.firstIndex { $0.key.encoded() == encoded }
  }
}
