/// Emphasis on terminals that have it, nothing elsewhere.
struct Style: Sendable {
  enum Emphasis: String, Sendable {
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  let isColored: Bool

  func callAsFunction(_ text: String, _ emphasis: Emphasis...) -> String {
    guard isColored, !text.isEmpty else { return text }
    return "\u{1b}[\(emphasis.map(\.rawValue).joined(separator: ";"))m\(text)\u{1b}[0m"
  }
}
