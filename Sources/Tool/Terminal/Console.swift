import Base
import FoundationEssentials
import Glibc

/// The place that a verb prints to, and what it can show.
final class Console: Sendable {
  enum Stream: Sendable { case output, error }

  /// The width of text in columns.
  let width: Int
  /// Whether the terminal shows colour and the user wants it.
  let isColored: Bool
  private let write: @Sendable (Stream, [UInt8]) -> Bool
  private let failed = Locked(false)

  /// - Parameter write: writes the bytes; false if it could not.
  init(width: Int = 100, isColored: Bool = false, write: @escaping @Sendable (Stream, [UInt8]) -> Bool) {
    self.width = width
    self.isColored = isColored
    self.write = write
  }

  /// Whether some output could not be written.
  var hasFailed: Bool { failed.withLock { $0 } }

  /// Prints a text and a line feed.
  func print(_ text: String) { send(.output, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  func print(_ json: JSON) { send(.output, json.serialized(pretty: true) + [UInt8(ascii: "\n")]) }

  func printError(_ text: String) { send(.error, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  /// Writes hidden controls as `\uXXXX`, so that they neither control the terminal nor change the direction of text.
  /// Verbs clean foreign text themselves; this catches what they miss, and the strings of JSON. Controls below U+0020
  /// pass: line feeds, and the escapes of `Style`.
  private func send(_ stream: Stream, _ bytes: [UInt8]) {
    let bytes = Printable.withoutHiddenControls(bytes)
    if !write(stream, bytes), stream == .output { failed.withLock { $0 = true } }
  }
}

extension Console {
  /// The process's standard output and error. Colour is used only on a terminal, and not with NO_COLOR.
  static let process = Console(width: terminalWidth(), isColored: isTerminalWithColor()) { stream, bytes in
    writeFully(bytes, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
  }

  /// The terminal's width, at least 80 and at most 120 columns; 100 if it is not a terminal.
  private static func terminalWidth() -> Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
    return min(max(Int(size.ws_col), 80), 120)
  }

  private static func isTerminalWithColor() -> Bool {
    let environment = ProcessInfo.processInfo.environment
    return isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}

/// Writes all bytes; false if it could not.
private func writeFully(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written < 0, errno == EINTR { continue }
    guard written > 0 else { return false }
    rest = rest.dropFirst(written)
  }
  return true
}

/// Makes foreign text safe to print: afterwards nothing in it can control the terminal or change how the text around it
/// reads.
enum Printable {
  /// The text as one line, with line feeds and tabs as `\n` and `\t`.
  static func line(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": output += "\\n"
      case "\t": output += "\\t"
      default: output += scalar.printable
      }
    }
    return output
  }

  /// Writes DEL, every control of the second block (C1), every directional control and every Unicode line separator as
  /// `\uXXXX`. In a string of JSON that is the same character.
  static func withoutHiddenControls(_ text: [UInt8]) -> [UInt8] {
    // In UTF-8, every such character begins with or is one of these bytes. Most texts have none of them.
    guard text.contains(where: { [0x7f, 0xc2, 0xd8, 0xe2].contains($0) }) else { return text }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      if scalar.isHiddenControl {
        let digits = String(scalar.value, radix: 16)
        output += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      } else {
        output += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
    return output
  }
}

/// Emphasis, if the terminal shows colour; otherwise text is unchanged.
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

/// Text in lines of a given width.
enum Wrapping {
  /// Breaks a paragraph at spaces, and indents all lines but the first. Spaces within a line stay unchanged.
  static func wrap(_ text: String, indent: Int = 0, width: Int) -> String {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Puts words on lines after `first`. Words are not broken, and further lines are indented by the length of `first`.
  static func wrap(words: [String], first: String, width: Int) -> String {
    let indent = first.count
    return first + lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Two indented columns. A left cell that is too long has a line to itself.
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

  /// Puts the words on lines of at most `width` characters. A longer word has a line of its own.
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
