import Base
import Compression

/// The unpacked entries of a status list, `bits` a piece, the first in the lowest bits (Token Status List, 4.1).
public struct PackedStatuses: Sendable, Hashable {
  public let bits: Int
  private let bytes: [UInt8]

  /// - Parameter list: a zlib stream.
  package init(bits: Int64?, list: some Collection<UInt8>) throws(StatusListError) {
    guard let bits, [1, 2, 4, 8].contains(bits) else { throw .invalid("bits is not 1, 2, 4 or 8") }
    self.bits = Int(bits)
    do throws(CompressionError) {
      bytes = try Inflation.inflate(list, limit: Limits.unpackedListBytes)
    } catch {
      if error == .tooLarge { throw StatusListError(.listTooLarge, "more than \(Limits.unpackedListBytes) bytes") }
      throw .invalid("lst is no zlib stream: \(error)")
    }
  }

  /// Bytes of memory.
  public var keptBytes: Int { bytes.count }

  public var count: Int { bytes.count * (8 / bits) }

  /// Nil outside the list.
  public subscript(index: UInt64) -> UInt8? {
    guard let index = Int(exactly: index), index < count else { return nil }
    let perByte = 8 / bits
    let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
    return bytes[index / perByte] >> UInt8(index % perByte * bits) & mask
  }
}
