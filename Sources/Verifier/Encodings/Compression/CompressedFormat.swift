/// What stands around the compressed bytes.
package enum CompressedFormat: Sendable, Hashable, CaseIterable {
  /// RFC 1950.
  case zlib
  /// RFC 1952, one member.
  case gzip

  /// zlib's argument for the largest window, with the format added.
  var windowBits: Int32 {
    switch self {
    case .zlib: 15
    case .gzip: 15 + 16
    }
  }
}
