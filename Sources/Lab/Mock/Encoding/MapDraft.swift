import CBOR

/// A CBOR map that is still being made: entries in order, found by key, doubled at will.
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

  /// Changes the map that stands under a key.
  mutating func nested(_ key: String, _ change: (inout MapDraft) throws -> Void) rethrows {
    var inner = MapDraft(self[key])
    try change(&inner)
    self[key] = inner.value
  }

  /// Writes the entry a second time.
  mutating func duplicate(_ key: CBORValue, value: CBORValue? = nil) {
    if let value = value ?? self[key] { entries.append((key, value)) }
  }

  private func index(of key: CBORValue) -> Int? {
    let encoded = key.encoded()
    return entries.firstIndex { $0.key.encoded() == encoded }
  }
}
