import Base

extension JSON {
  /// The value if the condition holds, otherwise nil.
  static func when(_ condition: Bool, _ value: @autoclosure () -> JSON) -> JSON? { condition ? value() : nil }

  static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
