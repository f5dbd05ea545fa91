import CPostgreSQL
import Sessions

extension SQLValue {
  /// The type's fixed object id (`pg_type.dat`) and the value's bytes, nil for NULL.
  var binary: (type: Oid, bytes: [UInt8]?) {
    switch self {
    case .integer(let number): (20, number.map(Self.bigEndian))
    case .text(let text): (25, text.map(Self.characters))
    case .blob(let bytes): (17, bytes)
    case .texts(let texts): (1009, Self.array(texts.map(Self.characters), of: 25))
    case .blobs(let blobs): (1001, Self.array(blobs, of: 17))
    case .integers(let numbers): (1016, Self.array(numbers.map(Self.bigEndian), of: 20))
    }
  }

  /// TEXT cannot contain a NUL character. A NUL is replaced so that the result equals no stored text.
  private static func characters(_ text: String) -> [UInt8] {
    Array(text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}").utf8 : text.utf8)
  }

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// The binary form of an array with one dimension (`array_recv`). The header contains the number of dimensions, 1 if
  /// an element is NULL, the element type, the element count and the first index. Each element follows its length,
  /// which is -1 for NULL.
  private static func array(_ elements: [[UInt8]?], of type: Int32) -> [UInt8] {
    var bytes = bigEndian(Int32(1)) + bigEndian(Int32(elements.contains(nil) ? 1 : 0)) + bigEndian(type)
    bytes += bigEndian(Int32(elements.count)) + bigEndian(Int32(1))
    for element in elements { bytes += bigEndian(Int32(element?.count ?? -1)) + (element ?? []) }
    return bytes
  }
}

/// The result of a statement. It owns libpq's memory.
final class PostgreSQLResult {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  var status: ExecStatusType { PQresultStatus(handle) }

  /// The error's SQLSTATE (PostgreSQL 15, Appendix A); nil if the server sent none.
  var sqlState: String? { mdoc_pq_sqlstate(handle).map { String(cString: $0) } }

  var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  var rows: [PostgreSQLRow] { (0..<PQntuples(handle)).map { PostgreSQLRow(result: self, row: $0) } }
}

package struct PostgreSQLRow: StoredRow {
  fileprivate let result: PostgreSQLResult
  fileprivate let row: Int32

  private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The row retains `result`, which owns this memory.
    UnsafeRawBufferPointer(
      start: PQgetvalue(result.handle, row, column), count: Int(PQgetlength(result.handle, row, column)))
  }

  package func isNull(_ column: Int32) -> Bool { PQgetisnull(result.handle, row, column) != 0 }

  /// Reads any integer type, and BOOLEAN as 0 or 1.
  package func integer(_ column: Int32) -> Int64 {
    let bytes = bytes(column)
    return bytes.reduce(Int64(bytes.count < 8 && bytes.first.map { $0 > 127 } == true ? -1 : 0)) { $0 << 8 | Int64($1) }
  }

  package func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  package func blob(_ column: Int32) -> [UInt8] { Array(bytes(column)) }

  /// An array's elements, with nil for each NULL element. Empty if the column is NULL.
  private func blobs(_ column: Int32) -> [[UInt8]?] {
    let bytes = bytes(column)
    func number(_ offset: Int) -> Int {
      guard offset + 4 <= bytes.count else { return 0 }
      return Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }
    // The elements begin after a header of 20 bytes (`array_send`). An empty array has no dimension.
    guard number(0) == 1 else { return [] }
    var elements: [[UInt8]?] = []
    var offset = 20
    for _ in 0..<number(12) {
      let count = number(offset)
      offset += 4
      guard count >= 0, offset + count <= bytes.count else {
        elements.append(nil)
        continue
      }
      elements.append(Array(bytes[offset..<offset + count]))
      offset += count
    }
    return elements
  }

  /// Three arrays, in the order of the offers.
  package static func values(of offers: [ProtocolOffer]) -> [SQLValue] {
    [
      .texts(offers.map(\.protocolName)), .blobs(offers.map(\.data.bytes)), .blobs(offers.map(\.sealedMaterial)),
    ]
  }

  package func offers(_ column: Int32) -> [SessionRow.Offer] {
    SessionRow.offers(
      blobs(column).map { String(decoding: $0 ?? [], as: UTF8.self) }, blobs(column + 1), blobs(column + 2))
  }
}
