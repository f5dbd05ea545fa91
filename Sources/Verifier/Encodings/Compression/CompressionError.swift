/// Why compressed bytes were refused.
package enum CompressionError: Error, Sendable, Hashable {
  /// Not of the format, or the checksum does not fit.
  case malformed
  /// The stream ends before its own end.
  case truncated
  /// Bytes follow the stream's end.
  case trailingBytes
  /// The stream needs a dictionary that it does not carry (RFC 1950, 2.2).
  case presetDictionary
  /// More comes out than was allowed.
  case tooLarge
  /// zlib could not allocate its own state.
  case libraryFailure
}
