import Glibc

/// The nodes of one parsed input, in the order of the bytes, over the input itself.
///
/// An item is a node and the nodes up to its `next`; its children are found by skipping from sibling to sibling. One
/// array of small nodes costs one allocation an input, and depth costs no stack.
final class CBORTree: Sendable {
  let bytes: [UInt8]
  let nodes: [CBORNode]
  /// The items inside tag 24 whose strings came in chunks, by the node of the string.
  let joined: [Int: CBORTree]

  init(bytes: [UInt8], nodes: [CBORNode], joined: [Int: CBORTree]) {
    self.bytes = bytes
    self.nodes = nodes
    self.joined = joined
  }

  /// The content of the string at a node; chunks of an indefinite length are joined.
  func content(_ index: Int) -> ArraySlice<UInt8> {
    let node = nodes[index]
    guard node.isChunked else { return bytes[Int(node.content)..<Int(node.end)] }
    return nodes[(index + 1)..<Int(node.next)].reduce(into: []) { $0 += bytes[Int($1.content)..<Int($1.end)] }
  }

  /// Whether the node is a text string of exactly these characters, compared byte by byte.
  func isText(_ index: Int, _ text: String) -> Bool {
    let node = nodes[index]
    guard node.kind == .text else { return false }
    if node.isChunked { return content(index).elementsEqual(text.utf8) }
    let length = Int(node.end - node.content)
    guard length == text.utf8.count else { return false }
    var text = text
    return bytes.withUnsafeBytes { bytes in
      text.withUTF8 { text in
        guard let here = bytes.baseAddress, let there = text.baseAddress else { return length == 0 }
        return memcmp(here + Int(node.content), there, length) == 0
      }
    }
  }
}

struct CBORNode: Sendable {
  var kind: CBORItem.Kind
  /// Set on strings that come in chunks; their children are the chunks.
  var isChunked = false
  /// Where the head begins, where the content begins (strings: after the head), and where the item ends.
  var start: Int32
  var content: Int32
  var end: Int32 = 0
  /// The index of the first node that does not belong to this item.
  var next: Int32 = 0
  /// The integer's argument, the tag's number, the boolean, the bit pattern of the float as a double, or the count of
  /// children of an array (elements) or map (keys and values).
  var value: UInt64
}
