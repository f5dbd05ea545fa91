import Vectors

/// `mdoc vectors lint`: whether a suite keeps its own rules.
enum VectorsLint {
  static let command = Command(
    "lint", "check a suite's files: schema, names, codes, stages, one fault each",
    options: [.suite],
    notes: ["Exit status: 0 nothing found, 1 something found, 65 the suite cannot be read."],
    examples: [.init("Before a commit", "mdoc vectors lint --suite TestVectors")],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let path = try arguments.required(.suite)
    let lint: SuiteLint
    do throws(SuiteError) {
      lint = try SuiteLint(at: path)
    } catch {
      throw .unreadable(error.description)
    }
    for finding in lint.findings { console.print(Printable.line(finding.description)) }
    console.print("\(lint.count) vectors, \(lint.findings.count) findings")
    return lint.findings.isEmpty && lint.count > 0 ? .done : .rejected
  }
}
