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
