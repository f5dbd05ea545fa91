import Glibc

/// A text that equals only those of the same bytes, for sets and dictionaries.
public struct UTF8Key: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (left: UTF8Key, right: UTF8Key) -> Bool { left.text.hasSameBytes(as: right.text) }

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

/// Text in which no long run of combining marks stands (Stream-Safe Text Format, UAX #15, 13).
///
/// Swift compares and hashes text by its normal form, and brings the marks of a run into their order in time that grows
/// with the square of their number: seconds for 100 kB. What comes from outside has to pass here before anything is done
/// with it. No language needs more than a few marks in a row.
public struct StreamSafeText: Sendable {
  package static let longestRun = 30

  private var run = 0

  public init() {}

  public static func isSafe(_ text: String) -> Bool {
    var reader = StreamSafeText()
    return reader.takes(text)
  }

  /// Whether the text is safe where it follows what was taken before.
  public mutating func takes(_ text: String) -> Bool {
    for scalar in text.unicodeScalars {
      guard Self.isMark(scalar) else {
        run = 0
        continue
      }
      run += 1
      if run > Self.longestRun { return false }
    }
    return true
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300
      && (scalar.properties.canonicalCombiningClass != .notReordered || marksInDisguise.contains(scalar.value))
  }

  /// Of class 0 themselves, and made of marks alone.
  private static let marksInDisguise: [UInt32] = [0x0f73, 0x0f75, 0x0f81]
}

extension Unicode.Scalar {
  /// Itself, or its number where it would steer a terminal or change how the text around it reads.
  package var printable: String { isUnprintable ? "\\u{\(String(value, radix: 16))}" : String(self) }

  /// Whether it is a control of the second block (C1), or one that changes the direction of the text around it.
  package var isHiddenControl: Bool {
    switch value {
    case 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }
}
