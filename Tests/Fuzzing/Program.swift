import CLibFuzzer
import Glibc
import Vectors

/// `Fuzzing list`, `Fuzzing seeds DIR`, `Fuzzing TARGET [libFuzzer's arguments]`; in the working copy's folder.
@main struct Program {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      switch arguments.first {
      case "list": for target in FuzzTargets.all { print(target.name) }
      case "seeds" where arguments.count == 2:
        try SeedFiles(folder: arguments[2]).write()
      case let name? where FuzzTargets.named(name) != nil: fuzz()
      default: fail("usage: Fuzzing list | seeds DIR | TARGET [libFuzzer's arguments]", status: 64)
      }
    } catch {
      fail("\(error)", status: 70)
    }
  }

  /// libFuzzer takes a function without a context: the target is what the process was started for.
  fileprivate static let target: any FuzzTarget = {
    do {
      guard let type = CommandLine.arguments.dropFirst().first.flatMap(FuzzTargets.named) else {
        fail("no such target", status: 64)
      }
      return try type.init(Material())
    } catch {
      fail("\(error)", status: 70)
    }
  }()

  private static func fuzz() -> Never {
    // Made before the first input: what is made once is no input's time, leak or coverage.
    _ = target
    // In place of the target's name, where a later argument can still say otherwise: looking for leaks after each input
    // costs a hundred executions. The process looks for them when it ends, over all inputs.
    CommandLine.unsafeArgv[1] = strdup("-detect_leaks=0")
    var count = CommandLine.argc
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &list, runOneInput))
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    let bytes = Array((message + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
  }
}

/// By the name that libFuzzer's own main, which is linked and never called, asks for.
@_cdecl("LLVMFuzzerTestOneInput")
func runOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  Program.target.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// What the leak detector is to overlook, for the reasons that `.ci/run` gives: what globals own, and one buffer of
/// FoundationEssentials.
@_cdecl("__lsan_default_suppressions")
func leakSuppressions() -> UnsafePointer<CChar> {
  let text: StaticString = "leak:_WZ\nleak:9VectorKit0A5SuiteV\nleak:readBytesFromFile\n"
  return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
