import Base

/// Why bytes were refused as CBOR, and where.
public struct CBORError: Error, Sendable, Hashable {
  /// One of the `cbor.*` codes.
  public let code: Code
  /// Byte offset into the input at which the fault was noticed.
  public let offset: Int

  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}
