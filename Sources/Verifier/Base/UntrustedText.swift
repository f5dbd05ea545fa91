import Glibc

/// A string key for sets and dictionaries, compared by its UTF-8 bytes.
public struct UTF8Key: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (left: UTF8Key, right: UTF8Key) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the bytes. Canonically equivalent `String` values have the same hash. Many such values make a set slow.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xff as UInt8)
  }
}

extension String {
  /// True if both strings are the same UTF-8 bytes.
  ///
  /// `==` also holds between canonically equivalent strings: the Kelvin sign equals "K". Names must match byte by byte,
  /// since they determine the signed, requested and trusted data.
  public func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Native strings have contiguous bytes: comparing them directly is several times faster.
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
/// Swift normalises text to compare or hash it. Sorting the marks of a run then takes quadratic time: seconds for 100
/// kB. Untrusted text must therefore pass this check first.
public struct StreamSafeText: Sendable {
  package static let longestRun = 30

  private var run = 0

  public init() {}

  public static func isSafe(_ text: String) -> Bool {
    var reader = StreamSafeText()
    return reader.takes(text)
  }

  /// Checks the next part of a text. Returns true if the part is safe after the earlier parts.
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

  /// Scalars of combining class 0 that decompose into marks only.
  private static let marksInDisguise: [UInt32] = [0x0f73, 0x0f75, 0x0f81]
}

extension String {
  /// The text as one line. Line feeds and tabs become `\n` and `\t`; other control characters become their numbers. It
  /// can thus neither control the terminal nor reorder the surrounding text.
  package var printableLine: String {
    var output = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": output += "\\n"
      case "\t": output += "\\t"
      default: output += scalar.printable
      }
    }
    return output
  }
}

extension Unicode.Scalar {
  /// The scalar, or its number if it could control a terminal or change the text around it.
  package var printable: String { isUnprintable ? "\\u{\(String(value, radix: 16))}" : String(self) }

  /// True for DEL, C1 control characters, line and paragraph separators, and characters that change the direction of
  /// text.
  package var isHiddenControl: Bool {
    switch value {
    case 0x7f...0x9f, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: false
    }
  }
}

/// A wallet's text, made safe for reports and logs: at most `limit` bytes, without controls, line breaks, or marks that
/// change the text around them.
package func shown(_ name: String, limit: Int = 64) -> String {
  if name.utf8.count <= limit, name.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return name }
  var output = ""
  for scalar in name.unicodeScalars {
    let next = scalar.isUnprintable ? "\u{fffd}" : Character(scalar)
    guard output.utf8.count + next.utf8.count <= limit else { return output + "…" }
    output.unicodeScalars.append(contentsOf: next.unicodeScalars)
  }
  return output
}

/// Untrusted names, made safe for a report: at most eight, each as `shown` writes it.
package func shownList(_ names: [String]) -> String {
  let more = names.count > 8 ? " and \(names.count - 8) more" : ""
  return names.isEmpty ? "none" : names.prefix(8).map { shown($0) }.joined(separator: ", ") + more
}
