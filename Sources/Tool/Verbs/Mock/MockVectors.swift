import Base
import Vectors

/// `mdoc mock vectors`: makes the corpus.
enum MockVectors {
  static let command = Command("vectors", "make the corpus of vectors", verbs: [regenerate])

  private static let regenerate = Command(
    "regenerate", "write every vector anew, and remove those that are not declared any more",
    options: [.outFolder, .seed, .json],
    notes: ["The same seed gives the same bytes. The default is the committed corpus's."],
    examples: [.init("After a change to the mock's variants", "mdoc mock vectors regenerate --out TestVectors")],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let seed = try arguments.hex(.seed, length: 1...1_024) ?? CorpusMaker.seed
    let path = try arguments.required(.outFolder)
    let made: Regeneration
    do {
      made = try Regeneration(of: CorpusMaker(seed: seed), into: path)
    } catch let error as SuiteError {
      throw .unreadable(error.description)
    } catch {
      throw .internal("the corpus could not be made: \(error)")
    }
    if arguments.has(.json) {
      console.print([
        "written": .integer(Int64(made.written.count)), "removed": .array(made.removed.map { .string($0) }),
        "bytes": .integer(Int64(made.bytes)),
      ])
    } else {
      for file in made.removed { console.print("removed \(Printable.line(file))") }
      console.print(Printable.line("\(path): \(made.written.count) files, \(made.bytes >> 10) KiB"))
    }
    return .done
  }
}

extension Option {
  fileprivate static let outFolder = Option("out", "DIR", "where to write", fallback: "TestVectors")
}
