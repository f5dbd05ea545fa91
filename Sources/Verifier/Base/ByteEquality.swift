import Glibc

/// A text that equals only those of the same bytes, for sets and dictionaries.
public struct ExactText: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// By bytes as well: equivalent texts have one hash of their own, and whoever sends many makes a set slow.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xff as UInt8)
  }
}

extension String {
  /// Whether both strings are the same UTF-8 bytes.
  ///
  /// `==` also holds between canonically equivalent strings: the Kelvin sign equals "K", an accent in one scalar or
  /// in two is the same. Where names decide what is signed, requested or trusted, the bytes have to be the same.
  public func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Strings of Swift's own have their bytes in one piece; comparing these is several times as fast as stepping.
    let isEqual = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let a = left.baseAddress, let b = right.baseAddress else { return left.isEmpty }
        return memcmp(a, b, left.count) == 0
      }
    }
    return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
