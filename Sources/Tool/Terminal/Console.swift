import Base
import FoundationEssentials
import Glibc

/// Where a verb prints, and what kind of place that is.
final class Console: Sendable {
  enum Stream: Sendable { case output, error }

  /// Columns to fill.
  let width: Int
  /// Whether escape sequences are understood and wanted.
  let isColored: Bool
  private let write: @Sendable (Stream, [UInt8]) -> Bool
  private let failed = Locked(false)

  /// - Parameter write: says whether it could.
  init(width: Int = 100, isColored: Bool = false, write: @escaping @Sendable (Stream, [UInt8]) -> Bool) {
    self.width = width
    self.isColored = isColored
    self.write = write
  }

  /// Whether something could not be printed.
  var hasFailed: Bool { failed.withLock { $0 } }

  /// A text and the end of its line.
  func print(_ text: String) { send(.output, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  func print(_ json: JSON) { send(.output, json.serialized(pretty: true) + [UInt8(ascii: "\n")]) }

  func printError(_ text: String) { send(.error, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  /// Whatever a verb prints, no character in it steers the terminal or turns the text around: that verbs clean what they
  /// take from elsewhere is their own business, this is for what they miss, and for the strings of JSON.
  private func send(_ stream: Stream, _ bytes: [UInt8]) {
    let bytes = Printable.withoutHiddenControls(bytes)
    if !write(stream, bytes), stream == .output { failed.withLock { $0 = true } }
  }
}

extension Console {
  /// The process's standard output and error. Colour only on a terminal, and not with NO_COLOR.
  static let process = Console(width: terminalWidth(), isColored: isTerminalWithColor()) { stream, bytes in
    writeFully(bytes, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
  }

  /// The terminal's width, kept within what can be read well.
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

/// Writes all bytes, or says that it could not.
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

/// Text from elsewhere, made safe to print: nothing in it can steer the terminal or change how the text around it
/// reads.
enum Printable {
  /// One line.
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

  /// UTF-8 with every control of the second block (C1) and every directional control as `\\uXXXX`, which in a string of
  /// JSON is the same character.
  static func withoutHiddenControls(_ text: [UInt8]) -> [UInt8] {
    // What they begin with, or are: most texts have none of these bytes.
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
