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
