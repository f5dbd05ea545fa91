import Base

/// One CBOR data item (RFC 8949) and the exact bytes that it came in.
///
/// Items are views into the received input, which is kept and shared: `encoded` is what was signed or hashed, never a
/// re-encoding. Input need not be deterministically encoded. Duplicate keys, trailing bytes, truncation, bad UTF-8,
/// and depth, size or count abuse are refused when the input is parsed, as is tag 24 around a byte string that does not
/// hold exactly one item. Tag 24 around anything else is well-formed, and has no `embedded` item.
package struct CBORItem: Sendable {
  package enum Kind: UInt8, Sendable, Hashable {
    case unsigned, negative, bytes, text, array, map, tag, bool, null, undefined, float
  }

  let tree: CBORTree
  let index: Int

  init(tree: CBORTree, index: Int) {
    self.tree = tree
    self.index = index
  }

  /// Parses bytes that hold exactly one item.
  package init(parsing bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(CBORError) {
    self.init(tree: try CBORDecoder.tree(parsing: bytes, in: 0..<bytes.count, limits: limits), index: 0)
  }

  /// Parses the content of a byte string as exactly one item, in place: offsets and bytes stay those of the input.
  package init(parsingContentOf item: CBORItem, limits: CBORLimits = CBORLimits()) throws(CBORError) {
    guard item.kind == .bytes else { throw CBORError(.cborMalformed, at: item.startOffset) }
    let node = item.node
    if node.isChunked {
      try self.init(parsing: Array(item.content), limits: limits)
    } else {
      let range = Int(node.content)..<Int(node.end)
      self.init(tree: try CBORDecoder.tree(parsing: item.tree.bytes, in: range, limits: limits), index: 0)
    }
  }

  var node: CBORNode { tree.nodes[index] }

  package var kind: Kind { node.kind }

  /// Where the item begins in the input.
  package var startOffset: Int { Int(node.start) }

  /// The item's bytes as received, head included.
  package var encoded: ArraySlice<UInt8> {
    let node = node
    return tree.bytes[Int(node.start)..<Int(node.end)]
  }

  // MARK: Simple values

  /// An unsigned integer (major type 0).
  package var unsigned: UInt64? { kind == .unsigned ? node.value : nil }

  /// An integer of either sign; nil if it does not fit into 64 bits.
  package var integer: Int64? {
    switch kind {
    case .unsigned: Int64(exactly: node.value)
    case .negative: Int64(exactly: node.value).map { -1 - $0 }
    default: nil
    }
  }

  /// The argument n of a negative integer −1−n.
  package var negativeArgument: UInt64? { kind == .negative ? node.value : nil }

  package var bool: Bool? { kind == .bool ? node.value == 1 : nil }

  package var double: Double? { kind == .float ? Double(bitPattern: node.value) : nil }

  package var isNull: Bool { kind == .null }

  // MARK: Strings

  /// The content of a byte string; chunks of an indefinite length are joined.
  package var bytes: ArraySlice<UInt8>? { kind == .bytes ? content : nil }

  package var text: String? { kind == .text ? String(decoding: content, as: UTF8.self) : nil }

  /// Whether this is a text string of exactly these characters, compared byte by byte.
  package func isText(_ text: String) -> Bool {
    tree.isText(index, text)
  }

  var content: ArraySlice<UInt8> { tree.content(index) }

  // MARK: Tags and embedded items

  package var tag: UInt64? { kind == .tag ? node.value : nil }

  /// The item that a tag of this number holds.
  package func content(ofTag number: UInt64) -> CBORItem? {
    guard tag == number else { return nil }
    return CBORItem(tree: tree, index: index + 1)
  }

  /// The item inside tag 24 (`#6.24(bstr .cbor …)`); nil if this is anything else.
  package var embedded: CBORItem? {
    guard let string = content(ofTag: 24), string.kind == .bytes else { return nil }
    if string.node.isChunked { return tree.joined[string.index].map { CBORItem(tree: $0, index: 0) } }
    return CBORItem(tree: tree, index: string.index + 1)
  }

  // MARK: Arrays and maps

  /// Elements of an array or entries of a map.
  package var count: Int? {
    switch kind {
    case .array: Int(node.value)
    case .map: Int(node.value / 2)
    default: nil
    }
  }

  /// The elements of an array.
  package var elements: CBORChildren? { kind == .array ? children : nil }

  /// The entries of a map, in the order received.
  package var entries: CBOREntries? { kind == .map ? CBOREntries(children: children) : nil }

  /// The value of a text key.
  package subscript(key key: String) -> CBORItem? {
    value { tree.isText($0, key) }
  }

  /// The value of an integer key.
  package subscript(label label: Int64) -> CBORItem? {
    if label >= 0 { return self[unsigned: UInt64(label)] }
    return value { tree.nodes[$0].kind == .negative && tree.nodes[$0].value == UInt64(-1 - label) }
  }

  /// The value of a key that is this unsigned integer.
  package subscript(unsigned key: UInt64) -> CBORItem? {
    value { tree.nodes[$0].kind == .unsigned && tree.nodes[$0].value == key }
  }

  /// The value of the first key that fits; keys are looked at without making items of them.
  private func value(where isMatch: (Int) -> Bool) -> CBORItem? {
    let map = node
    guard map.kind == .map else { return nil }
    var key = index + 1
    while key < Int(map.next) {
      let value = Int(tree.nodes[key].next)
      if isMatch(key) { return CBORItem(tree: tree, index: value) }
      key = Int(tree.nodes[value].next)
    }
    return nil
  }

  var children: CBORChildren { CBORChildren(tree: tree, index: index + 1, end: Int(node.next)) }
}

/// The items directly inside another, in the order received.
package struct CBORChildren: Sequence, IteratorProtocol, Sendable {
  let tree: CBORTree
  var index: Int
  let end: Int

  package mutating func next() -> CBORItem? {
    guard index < end else { return nil }
    defer { index = Int(tree.nodes[index].next) }
    return CBORItem(tree: tree, index: index)
  }
}

/// The entries of a map, in the order received.
package struct CBOREntries: Sequence, IteratorProtocol, Sendable {
  var children: CBORChildren

  package mutating func next() -> (key: CBORItem, value: CBORItem)? {
    guard let key = children.next(), let value = children.next() else { return nil }
    return (key, value)
  }
}

/// Items hold what wallets sent: neither logs nor error messages are to show it by accident.
extension CBORItem: CustomStringConvertible, CustomReflectable {
  package var description: String { "CBORItem(\(kind), \(encoded.count) bytes)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why bytes were refused as CBOR, and where.
package struct CBORError: Error, Sendable, Hashable {
  /// One of the `cbor.*` codes.
  package let code: Code
  /// Byte offset into the input at which the fault was noticed.
  package let offset: Int

  package init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}
