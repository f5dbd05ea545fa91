import FuzzDriver

/// `Fuzzing list`, `Fuzzing seeds DIR`, `Fuzzing TARGET [libFuzzer's arguments]`; in the working copy's folder.
@main struct Program {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      switch Driver.target {
      case "list": for target in FuzzTargets.all { print(target.name) }
      case "seeds" where arguments.count == 2:
        try SeedFiles(folder: arguments[2]).write()
      case let name?:
        guard let type = FuzzTargets.named(name) else { fallthrough }
        // Made before the first input, so that it adds no time, leak or coverage to an input.
        let target = try type.init(Material())
        Driver.fuzz(type.options) { target.run(Array($0)) }
      default: Driver.fail("usage: Fuzzing list | seeds DIR | TARGET [libFuzzer's arguments]", status: 64)
      }
    } catch {
      Driver.fail("\(error)", status: 70)
    }
  }
}

/// The allocations that the leak detector must ignore, for the reasons in `.ci/run`: those of globals, and one buffer
/// of FoundationEssentials.
@_cdecl("__lsan_default_suppressions")
func leakSuppressions() -> UnsafePointer<CChar> {
  let text: StaticString = "leak:_WZ\nleak:7Vectors11VectorSuiteV\nleak:readBytesFromFile\n"
  return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
