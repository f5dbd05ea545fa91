import CPostgreSQL

/// A value to send, in PostgreSQL's binary form, with its type.
enum PostgreSQLValue: Sendable {
  case integer(Int64?)
  case bool(Bool)
  case text(String?)
  case blob([UInt8]?)
  case texts([String])
  case blobs([[UInt8]?])
  case integers([Int64])

  /// The type's fixed number (`pg_type.dat`): BOOLEAN, BYTEA, BIGINT, TEXT, and the arrays.
  var type: Oid {
    switch self {
    case .bool: 16
    case .blob: 17
    case .integer: 20
    case .text: 25
    case .texts: 1009
    case .blobs: 1001
    case .integers: 1016
    }
  }

  /// Nil for NULL.
  var bytes: [UInt8]? {
    switch self {
    case .integer(let number): number.map(Self.bigEndian)
    case .bool(let flag): [flag ? 1 : 0]
    case .text(let text): text.map(Self.characters)
    case .blob(let bytes): bytes
    case .texts(let texts): Self.array(texts.map(Self.characters), of: 25)
    case .blobs(let blobs): Self.array(blobs, of: 17)
    case .integers(let numbers): Self.array(numbers.map(Self.bigEndian), of: 20)
    }
  }

  /// No TEXT holds a NUL character: what a client sends with one is made a text that nothing equals.
  private static func characters(_ text: String) -> [UInt8] {
    Array(text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}").utf8 : text.utf8)
  }

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// Dimensions, whether a NULL is among them, the elements' type, their number, the first one's index; then each with
  /// its length (`array_recv`).
  private static func array(_ elements: [[UInt8]?], of type: Int32) -> [UInt8] {
    var bytes = bigEndian(Int32(1)) + bigEndian(Int32(elements.contains(nil) ? 1 : 0)) + bigEndian(type)
    bytes += bigEndian(Int32(elements.count)) + bigEndian(Int32(1))
    for element in elements { bytes += bigEndian(Int32(element?.count ?? -1)) + (element ?? []) }
    return bytes
  }
}
