import Compression

/// The files of a ZIP archive (APPNOTE.TXT, 4.3), such as a Python wheel. Every offset is checked before it is used.
struct ZipArchive {
  private let bytes: [UInt8]
  /// The entries of the central directory.
  private let entries: [Entry]

  private struct Entry {
    let name: String
    let method, compressedSize, size, offset: Int
  }

  private static let mostEntries = 4_096

  /// Nil if the bytes are not an archive, or if the archive is encrypted, split, or larger than 4 GiB.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    // The end record has 22 bytes and a comment of at most 65,535 bytes.
    let candidates = stride(from: bytes.count - 22, through: max(0, bytes.count - 22 - 65_535), by: -1)
    guard bytes.count >= 22, let end = candidates.first(where: { Self.number(bytes, $0, 4) == 0x0605_4b50 }),
      let count = Self.number(bytes, end + 10, 2), count <= Self.mostEntries,
      var offset = Self.number(bytes, end + 16, 4)
    else { return nil }
    var entries: [Entry] = []
    for _ in 0..<count {
      guard let (entry, length) = Self.entry(bytes, at: offset) else { return nil }
      entries.append(entry)
      offset += length
    }
    self.entries = entries
  }

  /// The names of the archive's files.
  var names: [String] { entries.map(\.name) }

  /// The content of one file, by its index in `names`; nil if the file is damaged or larger than the limit.
  func content(at index: Int, limit: Int) -> [UInt8]? { content(of: entries[index], limit: limit) }

  private func content(of entry: Entry, limit: Int) -> [UInt8]? {
    guard entry.size <= limit, Self.number(bytes, entry.offset, 4) == 0x0403_4b50,
      let name = Self.number(bytes, entry.offset + 26, 2), let extra = Self.number(bytes, entry.offset + 28, 2)
    else { return nil }
    let start = entry.offset + 30 + name + extra
    guard start <= bytes.count, entry.compressedSize <= bytes.count - start else { return nil }
    let packed = bytes[start..<(start + entry.compressedSize)]
    let content: [UInt8]? =
      switch entry.method {
      case 0: Array(packed)
      case 8: try? Inflation.inflate(packed, format: .deflate, limit: entry.size)
      default: nil
      }
    return content?.count == entry.size ? content : nil
  }

  private static func entry(_ bytes: [UInt8], at offset: Int) -> (entry: Entry, length: Int)? {
    guard number(bytes, offset, 4) == 0x0201_4b50, let flags = number(bytes, offset + 8, 2), flags & 1 == 0,
      let method = number(bytes, offset + 10, 2), let compressed = number(bytes, offset + 20, 4),
      let size = number(bytes, offset + 24, 4), let nameLength = number(bytes, offset + 28, 2),
      let extra = number(bytes, offset + 30, 2), let comment = number(bytes, offset + 32, 2),
      let start = number(bytes, offset + 42, 4), offset + 46 + nameLength <= bytes.count,
      let name = String(validating: bytes[(offset + 46)..<(offset + 46 + nameLength)], as: UTF8.self)
    else { return nil }
    return (
      Entry(name: name, method: method, compressedSize: compressed, size: size, offset: start),
      46 + nameLength + extra + comment
    )
  }

  /// A little-endian number of `count` bytes; nil outside the archive.
  private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - count else { return nil }
    return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
