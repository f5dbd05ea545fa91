import CLibCBOR
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

/// What libcbor's streaming decoder saw at one head.
struct CBOREvent {
  enum Kind: UInt8 {
    case unsigned, negative, bytes, text, array, map, tag, bool, null, undefined, float
    /// The break that ends an indefinite length.
    case end

    var item: CBORItem.Kind {
      switch self {
      case .unsigned: .unsigned
      case .negative: .negative
      case .bytes: .bytes
      case .text: .text
      case .array: .array
      case .map: .map
      case .tag: .tag
      case .bool: .bool
      case .null, .end: .null
      case .undefined: .undefined
      case .float: .float
      }
    }
  }

  var kind = Kind.null
  /// The argument, the length of a string, the boolean, or a double's bit pattern.
  var value: UInt64 = 0
  var isIndefinite = false

  private static func note(_ context: UnsafeMutableRawPointer?, _ kind: Kind, _ value: UInt64, indefinite: Bool = false)
  {
    let event = context?.assumingMemoryBound(to: CBOREvent.self)
    event?.pointee = CBOREvent(kind: kind, value: value, isIndefinite: indefinite)
  }

  /// A `size_t`, which Swift reads as signed: a claim of 2^63 or more must not trap.
  private static func length(_ size: Int) -> UInt64 { UInt64(UInt(bitPattern: size)) }

  /// Written once, never freed and never changed, so that threads may share it.
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
    table.indef_break = { note($0, .end, 0) }
    let pointer = UnsafeMutablePointer<cbor_callbacks>.allocate(capacity: 1)
    pointer.initialize(to: table)
    return UnsafePointer(pointer)
  }()
}
