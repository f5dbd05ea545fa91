import CLibFuzzer
import Glibc

/// libFuzzer's entry into a program that was started as `PROGRAM TARGET [libFuzzer's arguments]`.
public enum Driver {
  /// Written once, before libFuzzer begins to call: it takes a function without a context.
  nonisolated(unsafe) fileprivate static var run: (UnsafeBufferPointer<UInt8>) -> Void = { _ in }

  /// The first argument. libFuzzer ignores options of this form, and passes them on to the processes that it starts to
  /// merge or to minimise an input.
  public static var target: String? {
    CommandLine.arguments.dropFirst().first.map { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : $0 }
  }

  private static let mark = "--"

  /// Passes control to libFuzzer, which calls on one thread until it is done.
  ///
  /// - Parameter options: libFuzzer's, for this target. Later arguments can still say otherwise.
  public static func fuzz(_ options: [String], _ run: @escaping (UnsafeBufferPointer<UInt8>) -> Void) -> Never {
    Self.run = run
    // Looking for leaks after each input costs a hundred executions: the process looks for them when it ends, over all
    // inputs.
    var arguments = CommandLine.arguments
    arguments.replaceSubrange(1...1, with: [mark + (target ?? ""), "-detect_leaks=0"] + options)
    // Never freed: libFuzzer ends the process.
    let words = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(of: arguments)
    var count = CInt(words.count - 1)
    var list = words.baseAddress
    exit(LLVMFuzzerRunDriver(&count, &list, runOneInput))
  }

  public static func fail(_ message: String, status: Int32) -> Never {
    say(message)
    exit(status)
  }

  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

/// The name that libFuzzer's own main requires, which is linked but never called.
@_cdecl("LLVMFuzzerTestOneInput")
func runOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Driver.run(UnsafeBufferPointer(start: data, count: size))
  return 0
}

extension UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?> {
  /// Arguments in C's form, with nil after the last.
  fileprivate static func allocate(of words: [String]) -> Self {
    let buffer = allocate(capacity: words.count + 1)
    for (index, word) in words.enumerated() { buffer.initializeElement(at: index, to: strdup(word)) }
    buffer.initializeElement(at: words.count, to: nil)
    return buffer
  }
}

/// A rule of a target. It is checked in optimised builds too, and its breach is a crash that libFuzzer reports.
@inlinable
public func require(_ condition: Bool, _ rule: @autoclosure () -> String) {
  if !condition { fatalError("broken rule: \(rule())") }
}
