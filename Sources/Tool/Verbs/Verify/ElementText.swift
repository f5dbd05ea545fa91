import Base

/// A data element's value in one line, or a list in one line an entry.
enum ElementText {
  static func rows(_ name: String, _ value: JSON) -> [(String, String)] {
    guard let entries = value.array, entries.count > 1 else { return [(name, line(value))] }
    return entries.enumerated().map { index, entry in (index == 0 ? name : "", line(entry)) }
  }

  private static func line(_ value: JSON, isNested: Bool = false) -> String {
    switch value {
    case .string(let text): text.isEmpty ? "(empty)" : text
    case .bool(let flag): flag ? "true" : "false"
    case .array(let elements): "[" + elements.map { line($0, isNested: true) }.joined(separator: ", ") + "]"
    case .object(let members): binary(value) ?? map(members, isNested: isNested)
    case .integer, .double, .null, .written: value.text()
    }
  }

  private static func map(_ members: [JSON.Member], isNested: Bool) -> String {
    let text = members.map { "\($0.name): \(line($0.value, isNested: true))" }.joined(separator: ", ")
    return isNested || members.isEmpty ? "{\(text)}" : text
  }

  /// Bytes are described, not shown: `{"media_type"?, "base64"}`.
  private static func binary(_ value: JSON) -> String? {
    guard let base64 = value["base64"]?.string, value.object?.allSatisfy({ isOfBinary($0.name) }) == true else {
      return nil
    }
    let padding = base64.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    return "\(value["media_type"]?.string ?? "binary"), \(base64.utf8.count / 4 * 3 - padding) bytes"
  }

  private static func isOfBinary(_ name: String) -> Bool { name == "base64" || name == "media_type" }
}
