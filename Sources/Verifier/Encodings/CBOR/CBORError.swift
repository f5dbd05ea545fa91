import Base

/// Why bytes were refused as CBOR, and where.
package struct CBORError: Error, Sendable, Hashable {
  /// One of the `cbor.*` codes.
  package let code: Code
  /// Byte offset into the input at which the fault was noticed.
  package let offset: Int

  package init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}
