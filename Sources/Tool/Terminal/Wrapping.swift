/// Text in lines of a given width.
enum Wrapping {
  /// A paragraph, broken at spaces; further lines are indented. Spaces within a line stay as they are.
  static func wrap(_ text: String, indent: Int = 0, width: Int) -> String {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Words that stay whole, after a first one that the further lines are indented by.
  static func wrap(words: [String], first: String, width: Int) -> String {
    let indent = first.count
    return first + lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Two columns, indented; a left cell that is too long has its line to itself.
  static func columns(_ rows: [(String, String)], indent: Int = 2, leftLimit: Int = 30, width: Int) -> String {
    let left = rows.map(\.0.count).filter { $0 <= leftLimit }.max() ?? leftLimit
    let start = indent + left + 2
    return rows.map { name, text in
      let cell = spaces(indent) + name
      let body = wrap(text, indent: start, width: width)
      if name.count > left { return cell + "\n" + spaces(start) + body }
      return body.isEmpty ? cell : cell + spaces(start - cell.count) + body
    }.joined(separator: "\n")
  }

  static func padded(_ text: String, to width: Int) -> String { text + spaces(width - text.count) }

  static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  /// The words in lines of at most `width` characters; a longer word has a line of its own.
  static func lines(_ words: [String], width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words {
      if line.isEmpty {
        line = word
      } else if line.count + 1 + word.count <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = word
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
