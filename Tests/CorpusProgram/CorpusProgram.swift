import Base
import CorpusMaking
import Glibc
import Longfellow
import PublishedSets
import Vectors

/// Makes the corpus in `TestVectors`, and runs sets that others published.
@main struct CorpusProgram {
  private static let usage = """
    swift run CorpusProgram COMMAND

      regenerate [--out DIR] [--seed HEX] [--circuits DIR]
          Write every vector, and remove those that are no longer declared. The same seed gives the same bytes. Without
          --circuits the vectors with zero-knowledge proofs stay as they are.
      release VERSION [--suite DIR] [--open]
          Enter new ids in ids.json, as of a version such as 1.1.0, and retire ids of removed cases. New cases make a
          minor version at least, retired ones a major one, other bytes or words a patch. With --open the version is
          still being made: its new ids may change until it is closed.
      changes OLD NEW
          Show what changed between two suites, folders or packed corpora, as Markdown for a changelog.
      published DIR [--filter ID]
          Run our verifier over a set that others published, or over a folder of such sets, in their own layouts.

    --out and --suite are TestVectors by default. Exit status: 0 done, 1 a case failed or an id changed its meaning,
    64 usage, 65 a suite cannot be read or released.
    """

  private struct UsageError: Error { let text: String }

  static func main() {
    do {
      exit(try run(Array(CommandLine.arguments.dropFirst())))
    } catch let error as UsageError {
      fail(error.text + "\n\n" + usage, status: 64)
    } catch {
      fail("\(error)", status: 65)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    let bytes = Array("\(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
  }

  private static func run(_ words: [String]) throws -> Int32 {
    var (operands, options) = try parsed(words)
    guard !operands.isEmpty else { throw UsageError(text: "a command is missing") }
    let command = operands.removeFirst()
    switch (command, operands.count) {
    case ("regenerate", 0): try regenerate(options)
    case ("release", 1):
      print(
        try CorpusLedger.release(
          operands[0], of: options["--suite"] ?? "TestVectors", isOpen: options["--open"] != nil))
    case ("changes", 2):
      let changes = CorpusChanges(from: try VectorSuite(at: operands[0]), to: try VectorSuite(at: operands[1]))
      print(changes.markdown)
      return changes.changedMeaning.isEmpty ? 0 : 1
    case ("published", 1): return try published(operands[0], filter: options["--filter"])
    default: throw UsageError(text: "unknown command, or the wrong number of operands: \(words.joined(separator: " "))")
    }
    return 0
  }

  /// Operands, and values by option.
  private static func parsed(_ words: [String]) throws -> (operands: [String], options: [String: String]) {
    var operands: [String] = []
    var options: [String: String] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--open": options[word] = ""
      case "--out", "--seed", "--circuits", "--suite", "--filter":
        guard let value = rest.popFirst() else { throw UsageError(text: "\(word) needs a value") }
        options[word] = value
      case let word where word.hasPrefix("-"): throw UsageError(text: "unknown option \(word)")
      default: operands.append(word)
      }
    }
    return (operands, options)
  }

  private static func regenerate(_ options: [String: String]) throws {
    let seed = options["--seed"].map { Hex.decode($0) } ?? CorpusMaker.seed
    guard let seed, !seed.isEmpty else { throw UsageError(text: "--seed must be hexadecimal") }
    let circuits = try options["--circuits"].map { try CircuitLibrary(folder: $0) }
    let path = options["--out"] ?? "TestVectors"
    let made = try Regeneration(of: CorpusMaker(seed: seed, circuits: circuits), into: path)
    for file in made.removed { print("removed \(file)") }
    print("\(path): \(made.written.count) files, \(made.bytes >> 10) KiB")
  }

  private static func published(_ path: String, filter: String?) throws -> Int32 {
    guard let report = try PublishedSuite.run(at: path, filter: filter) else {
      throw SuiteError(path: path, problem: "holds no set whose layout is known")
    }
    for failure in report.failures { print("FAILED \(failure.summary.id): \(failure.problem ?? "")") }
    for (name, count) in report.groups {
      print("\(name): \(count.passed) passed, \(count.failed) failed, \(count.skipped) skipped")
    }
    let reasons = report.results.compactMap { result in result.skipReason.map { "\(result.group): \($0)" } }
    for (reason, cases) in Dictionary(grouping: reasons, by: { $0 }).sorted(by: { $0.key < $1.key }) {
      print("skipped \(cases.count)  \(reason)")
    }
    print(report.hasPassed ? "PASSED" : report.failures.isEmpty ? "NOTHING RUN" : "FAILED")
    return report.hasPassed ? 0 : 1
  }
}
