import CLibCBOR

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
