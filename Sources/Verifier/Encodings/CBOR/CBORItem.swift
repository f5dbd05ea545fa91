import Base

/// One CBOR data item (RFC 8949) and its exact bytes as received.
///
/// Items are views into the received input. They share it and keep it in memory. `encoded` has the signed or hashed
/// bytes, never a re-encoding. Input need not be deterministic. Parsing refuses duplicate keys, trailing bytes,
/// truncation, bad UTF-8, and excessive depth, size or count. It also refuses tag 24 around a byte string that does not
/// contain exactly one item. Tag 24 around any other item is well-formed, and its `embedded` is nil.
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

  /// Parses bytes that contain exactly one item.
  package init(parsing bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(CBORError) {
    self.init(tree: try CBORDecoder.tree(parsing: bytes, in: 0..<bytes.count, limits: limits), index: 0)
  }

  /// Parses the content of a byte string as exactly one item, in place: offsets and bytes still refer to the input.
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

  /// Byte offset in the input.
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

  /// The argument n of the negative integer −1−n.
  package var negativeArgument: UInt64? { kind == .negative ? node.value : nil }

  package var bool: Bool? { kind == .bool ? node.value == 1 : nil }

  package var double: Double? { kind == .float ? Double(bitPattern: node.value) : nil }

  package var isNull: Bool { kind == .null }

  // MARK: Strings

  /// The content of a byte string; chunks of an indefinite length are joined.
  package var bytes: ArraySlice<UInt8>? { kind == .bytes ? content : nil }

  package var text: String? { kind == .text ? String(decoding: content, as: UTF8.self) : nil }

  /// True for a text string of exactly these bytes.
  package func isText(_ text: String) -> Bool { tree.isText(index, text) }

  var content: ArraySlice<UInt8> { tree.content(index) }

  // MARK: Tags and embedded items

  package var tag: UInt64? { kind == .tag ? node.value : nil }

  /// The content of the tag, if the tag has this number.
  package func content(ofTag number: UInt64) -> CBORItem? {
    guard tag == number else { return nil }
    return CBORItem(tree: tree, index: index + 1)
  }

  /// The item inside tag 24 (`#6.24(bstr .cbor …)`); nil for any other item.
  package var embedded: CBORItem? {
    guard let string = content(ofTag: 24), string.kind == .bytes else { return nil }
    if string.node.isChunked { return tree.joined[string.index].map { CBORItem(tree: $0, index: 0) } }
    return CBORItem(tree: tree, index: string.index + 1)
  }

  // MARK: Arrays and maps

  /// The number of elements of an array, or of entries of a map.
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

  package subscript(key key: String) -> CBORItem? { value { tree.isText($0, key) } }

  package subscript(label label: Int64) -> CBORItem? {
    if label >= 0 { return self[unsigned: UInt64(label)] }
    return value { tree.nodes[$0].kind == .negative && tree.nodes[$0].value == UInt64(-1 - label) }
  }

  package subscript(unsigned key: UInt64) -> CBORItem? {
    value { tree.nodes[$0].kind == .unsigned && tree.nodes[$0].value == key }
  }

  /// The value of the first key for which `isMatch` is true.
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

  var children: CBORChildren {
    let isCounted = kind == .array || kind == .map
    return CBORChildren(tree: tree, index: index + 1, end: Int(node.next), count: isCounted ? Int(node.value) : 0)
  }
}

/// The items directly inside another item, in the order received.
package struct CBORChildren: Sequence, IteratorProtocol, Sendable {
  let tree: CBORTree
  var index: Int
  let end: Int
  /// The number of remaining items, so that an array of them needs only one allocation.
  package private(set) var underestimatedCount: Int

  init(tree: CBORTree, index: Int, end: Int, count: Int) {
    self.tree = tree
    self.index = index
    self.end = end
    underestimatedCount = count
  }

  package mutating func next() -> CBORItem? {
    guard index < end else { return nil }
    defer {
      index = Int(tree.nodes[index].next)
      if underestimatedCount > 0 { underestimatedCount -= 1 }
    }
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

extension CBORItem {
  /// An integer of major type 0 or 1: from −2^64 to 2^64 − 1.
  package var wholeNumber: Int128? {
    switch kind {
    case .unsigned: Int128(node.value)
    case .negative: -1 - Int128(node.value)
    default: nil
    }
  }

  /// The digits of an integer of any size (`Bignum`); nil for any other item.
  package var digits: String? {
    if let wholeNumber { return "\(wholeNumber)" }
    return tag.flatMap { tag in content(ofTag: tag)?.bytes.flatMap { Bignum.digits(tag: tag, content: $0) } }
  }
}

/// An integer as tag 2 or 3 around its bytes (RFC 8949, 3.4.3).
package enum Bignum {
  /// The number in decimal. A number of more than `Limits.decimalBytes` bytes is in hexadecimal, with the prefix `0x`.
  /// Nil for another tag.
  package static func digits(tag: UInt64, content: some Sequence<UInt8>) -> String? {
    guard tag == 2 || tag == 3 else { return nil }
    var magnitude = [0] + Array(content)
    // Tag 3 means −1−n: the magnitude is n + 1.
    var index = magnitude.endIndex
    while tag == 3, index > 0 {
      index -= 1
      magnitude[index] &+= 1
      if magnitude[index] != 0 { break }
    }
    let bytes = magnitude.drop { $0 == 0 }
    return (tag == 3 ? "-" : "") + (bytes.count > Limits.decimalBytes ? "0x" + Hex.encode(bytes) : decimal(bytes))
  }

  /// Long division by 10^19 finds the digits in groups, the last first.
  private static func decimal(_ magnitude: ArraySlice<UInt8>) -> String {
    let base: UInt64 = 10_000_000_000_000_000_000
    let padded = [UInt8](repeating: 0, count: (8 - magnitude.count % 8) % 8) + magnitude
    var words = stride(from: 0, to: padded.count, by: 8).map { start in
      padded[start..<start + 8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }[...]
    var text = ""
    while true {
      var remainder: UInt64 = 0
      for index in words.indices { (words[index], remainder) = base.dividingFullWidth((remainder, words[index])) }
      words = words.drop { $0 == 0 }
      let group = "\(remainder)"
      if words.isEmpty { return group + text }
      text = String(repeating: "0", count: 19 - group.utf8.count) + group + text
    }
  }
}

/// Items contain wallets' data. Neither logs nor error messages may show it.
extension CBORItem: CustomStringConvertible, CustomReflectable {
  package var description: String { "CBORItem(\(kind), \(encoded.count) bytes)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why bytes are refused as CBOR.
package struct CBORError: Error, Sendable, Hashable {
  /// One of the `cbor.*` codes.
  package let code: Code
  /// Byte offset of the fault in the input.
  package let offset: Int

  package init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}
