/// For how long a relying party means to keep a value after it has seen it. The stricter one is the lesser.
public enum Retention: Sendable, Hashable, Comparable {
  /// Not at all.
  case none
  /// At least one.
  case days(Int)
  /// It is kept, and nothing is said of how long.
  case unspecified

  /// IntentToRetain (ISO/IEC 18013-5:2021, 8.3.2.1.2.1), which knows no days.
  public var isIntended: Bool { self != .none }

  /// What all of them allow; nothing is kept of what nobody spoke of.
  static func strictest(of retentions: [Retention]) -> Retention { retentions.min() ?? .none }
}
