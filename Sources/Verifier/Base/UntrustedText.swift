import Glibc

/// A text that equals only texts of the same bytes, for sets and dictionaries.
public struct UTF8Key: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (left: UTF8Key, right: UTF8Key) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the bytes as well. Canonically equivalent texts would share one hash of `String`, and many of them would
  /// make a set slow.
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
    // Strings of Swift's own have their bytes in one piece. Comparing those is several times as fast as stepping.
    let isEqual = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let a = left.baseAddress, let b = right.baseAddress else { return left.isEmpty }
        return memcmp(a, b, left.count) == 0
      }
    }
    return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

/// Checks that text has no long run of combining marks (Stream-Safe Text Format, UAX #15, 13).
///
/// Swift compares and hashes text by its normal form. To sort the marks of a run takes time that grows with the square
/// of their number: seconds for 100 kB. So text from outside must pass here before anything else is done with it. No
/// language needs more than a few marks in a row.
public struct StreamSafeText: Sendable {
  package static let longestRun = 30

  private var run = 0

  public init() {}

  public static func isSafe(_ text: String) -> Bool {
    var reader = StreamSafeText()
    return reader.takes(text)
  }

  /// Whether the text is safe when it follows the texts that were taken before.
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

  /// Scalars of class 0 that decompose into marks alone.
  private static let marksInDisguise: [UInt32] = [0x0f73, 0x0f75, 0x0f81]
}

extension Unicode.Scalar {
  /// The scalar itself. If it would control a terminal or change how the text around it reads, its number instead.
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

/// A text that a wallet chose, fit for a report or log line: at most `limit` bytes, without control characters, line
/// breaks, or marks that change how the text around them is displayed.
package func shown(_ name: String, limit: Int = 64) -> String {
  if name.utf8.count <= limit, name.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return name }
  var output = ""
  for scalar in name.unicodeScalars {
    let next = isPlain(scalar) ? Character(scalar) : "\u{fffd}"
    guard output.utf8.count + next.utf8.count <= limit else { return output + "…" }
    output.unicodeScalars.append(contentsOf: next.unicodeScalars)
  }
  return output
}

private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
  default: true
  }
}
