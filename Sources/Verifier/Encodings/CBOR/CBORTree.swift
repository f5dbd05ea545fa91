import CLibCBOR
import Glibc

/// One parsed input, and its nodes in the order of the bytes.
///
/// An item consists of a node and all nodes before the node's `next`. An array of small nodes takes one allocation for
/// each input. Nesting takes no stack.
final class CBORTree: Sendable {
  let bytes: [UInt8]
  let nodes: [CBORNode]
  /// The items inside tag 24 whose byte strings are chunked, by the string's node.
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

  /// True if the node is a text string of exactly these bytes.
  func isText(_ index: Int, _ text: String) -> Bool {
    let node = nodes[index]
    guard node.kind == .text else { return false }
    if node.isChunked { return content(index).elementsEqual(text.utf8) }
    let length = Int(node.end - node.content)
    guard length == text.utf8.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      let here = UnsafeRawBufferPointer(rebasing: bytes[Int(node.content)..<Int(node.end)])
      let isSame = text.utf8.withContiguousStorageIfAvailable { there in
        guard let left = here.baseAddress, let right = there.baseAddress else { return length == 0 }
        return memcmp(left, right, length) == 0
      }
      return isSame ?? here.elementsEqual(text.utf8)
    }
  }
}

struct CBORNode: Sendable {
  var kind: CBORItem.Kind
  /// True for a string in chunks. The chunks are the node's children.
  var isChunked = false
  /// Offsets of the head, of a string's content, and of the item's end.
  var start: Int32
  var content: Int32
  var end: Int32 = 0
  /// The index of the first node after this item.
  var next: Int32 = 0
  /// An integer's argument, a tag's number, a boolean, a float's bit pattern as a double, or the number of children (an
  /// array's elements, or a map's keys and values).
  var value: UInt64
}

/// One head, as libcbor's streaming decoder reports it.
struct CBOREvent {
  /// The kind; nil for the break that ends an indefinite length.
  var kind: CBORItem.Kind?
  /// The argument, the length of a string, the boolean, or a double's bit pattern.
  var value: UInt64 = 0
  var isIndefinite = false

  private static func note(
    _ context: UnsafeMutableRawPointer?, _ kind: CBORItem.Kind?, _ value: UInt64, indefinite: Bool = false
  ) {
    let event = context?.assumingMemoryBound(to: CBOREvent.self)
    event?.pointee = CBOREvent(kind: kind, value: value, isIndefinite: indefinite)
  }

  /// Converts a `size_t`, which Swift imports as signed. Values of 2^63 or more must not trap.
  private static func length(_ size: Int) -> UInt64 { UInt64(UInt(bitPattern: size)) }

  /// Threads may share it: it is written once, never freed and never changed.
  nonisolated(unsafe) static let callbacks: UnsafePointer<cbor_callbacks> = {
    var table = cbor_callbacks()
    table.uint8 = { note($0, .unsigned, UInt64($1)) }
    table.uint16 = { note($0, .unsigned, UInt64($1)) }
    table.uint32 = { note($0, .unsigned, UInt64($1)) }
    table.uint64 = { note($0, .unsigned, $1) }
    table.negint8 = { note($0, .negative, UInt64($1)) }
    table.negint16 = { note($0, .negative, UInt64($1)) }
    table.negint32 = { note($0, .negative, UInt64($1)) }
    table.negint64 = { note($0, .negative, $1) }
    table.byte_string = { note($0, .bytes, length($2)) }
    table.byte_string_start = { note($0, .bytes, 0, indefinite: true) }
    table.string = { note($0, .text, length($2)) }
    table.string_start = { note($0, .text, 0, indefinite: true) }
    table.array_start = { note($0, .array, length($1)) }
    table.indef_array_start = { note($0, .array, 0, indefinite: true) }
    table.map_start = { note($0, .map, length($1)) }
    table.indef_map_start = { note($0, .map, 0, indefinite: true) }
    table.tag = { note($0, .tag, $1) }
    table.float2 = { note($0, .float, Double($1).bitPattern) }
    table.float4 = { note($0, .float, Double($1).bitPattern) }
    table.float8 = { note($0, .float, $1.bitPattern) }
    table.undefined = { note($0, .undefined, 0) }
    table.null = { note($0, .null, 0) }
    table.boolean = { note($0, .bool, $1 ? 1 : 0) }
    table.indef_break = { note($0, nil, 0) }
    let pointer = UnsafeMutablePointer<cbor_callbacks>.allocate(capacity: 1)
    pointer.initialize(to: table)
    return UnsafePointer(pointer)
  }()
}
