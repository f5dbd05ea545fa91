import Base
import FoundationEssentials
import Glibc

/// The terminal or file that a verb prints to.
final class Console: Sendable {
  enum Stream: Sendable { case output, error }

  /// The width of text in columns.
  let width: Int
  /// True if the terminal shows colour and the user wants it.
  let isColored: Bool
  /// True if standard error is a terminal, which shows progress.
  private let showsProgress: Bool
  private let write: @Sendable (Stream, [UInt8]) -> Bool
  private let failed = Locked(false)

  /// - Parameter write: writes the bytes; returns false if writing failed.
  init(
    width: Int = 100, isColored: Bool = false, showsProgress: Bool = false,
    write: @escaping @Sendable (Stream, [UInt8]) -> Bool
  ) {
    self.width = width
    self.isColored = isColored
    self.showsProgress = showsProgress
    self.write = write
  }

  /// True if any output could not be written.
  var hasFailed: Bool { failed.withLock { $0 } }

  func print(_ report: [Report], folding: Bool = false) {
    print(TextPrinter(width: width, isColored: isColored, folds: folding).text(report))
  }

  /// Prints a text and a line feed.
  func print(_ text: String) { send(.output, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  func print(_ json: JSON) { send(.output, json.serialized(pretty: true) + [UInt8(ascii: "\n")]) }

  func printError(_ text: String) { send(.error, Array(text.utf8) + [UInt8(ascii: "\n")]) }

  /// Shows the progress of long work and an estimate of the remaining time, on one line of a terminal's standard error.
  /// The line is erased at the end. Call `erase` if work may end early.
  var progress: @Sendable (_ done: Int, _ total: Int) -> Void {
    let (start, shown) = (ContinuousClock.now, Locked<ContinuousClock.Instant?>(nil))
    return { [self] done, total in
      let now = ContinuousClock.now
      guard showsProgress, done > 0 else { return }
      guard done < total else { return erase() }
      let isDue = shown.withLock { last in
        if let last, now - last < .milliseconds(200) { return false }
        last = now
        return true
      }
      let left = Int(((now - start) / .seconds(1) * Double(total - done) / Double(done)).rounded(.up))
      let time = left < 120 ? "\(left) s" : "\((left + 59) / 60) min"
      if isDue { send(.error, Array("\r\u{1b}[K\(done) of \(total), about \(time) left".utf8)) }
    }
  }

  /// Erases the line of progress.
  func erase() {
    if showsProgress { send(.error, Array("\r\u{1b}[K".utf8)) }
  }

  /// Writes hidden controls as `\uXXXX`, so that they affect neither the terminal nor the direction of text.
  /// `TextPrinter` escapes foreign text. This function escapes the rest, including strings in JSON. Controls below
  /// U+0020 are not escaped, since they include line feeds and the escapes for emphasis.
  private func send(_ stream: Stream, _ bytes: [UInt8]) {
    let bytes = Printable.withoutHiddenControls(bytes)
    if !write(stream, bytes), stream == .output { failed.withLock { $0 = true } }
  }
}

extension Console {
  /// The process's standard output and error. Colour is used only on a terminal, unless NO_COLOR is set.
  static let process = Console(
    width: terminalWidth(), isColored: isTerminalWithColor(), showsProgress: isatty(STDERR_FILENO) == 1
  ) { stream, bytes in
    writeFully(bytes, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO)
  }

  /// The terminal's width, at least 80 and at most 120 columns; 100 if the output is not a terminal.
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
