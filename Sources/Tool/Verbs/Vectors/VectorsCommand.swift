import Base
import Vectors

/// `mdoc vectors`: runs the corpus of right and wrong answers against this verifier or another.
enum VectorsCommand {
  static let command = Command(
    "vectors", "hold a verifier to the corpus of right and wrong answers",
    verbs: [
      VectorsRun.command, VectorsList.command, VectorsShow.command, VectorsExtract.command, VectorsLint.command,
      VectorsServeHarness.command, VectorsMatrix.command, VectorsPack.command, VectorsRelease.command,
      VectorsChanges.command,
    ])

  static func suite(_ arguments: ParsedArguments) throws(Failure) -> VectorSuite {
    try suite(at: arguments.required(.suite))
  }

  static func suite(at path: String) throws(Failure) -> VectorSuite {
    do throws(SuiteError) {
      return try VectorSuite(at: path)
    } catch {
      throw .unreadable(error.description)
    }
  }
}

extension Option {
  static let suite = Option("suite", "DIR", "the folder of vectors, or a packed corpus", fallback: "TestVectors")
  static let filter = Option("filter", "ID", "only cases whose id contains this")
}

/// `mdoc vectors list`: lists the cases of the corpus.
enum VectorsList {
  static let command = Command(
    "list", "list the cases with what is wrong and what is expected",
    options: [.suite, .filter, .json],
    examples: [
      .init("Every case", "mdoc vectors list"),
      .init("How many by group", "mdoc vectors list --json | jq -r '.[].group' | sort | uniq -c"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let filter = arguments.value(.filter)
    let entries = try VectorsCommand.suite(arguments).entries.filter { entry in
      filter.map { entry.vector.id.contains($0) } ?? true
    }
    if arguments.has(.json) {
      console.print(.array(entries.map(json)))
    } else {
      let style = Style(isColored: console.isColored)
      console.print(entries.map { text($0.vector, console.width, style) }.joined(separator: "\n"))
    }
    return .done
  }

  private static func json(_ entry: VectorSuite.Entry) -> JSON {
    let vector = entry.vector
    func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
    return [
      "id": .string(vector.id), "group": .string(entry.group), "description": .string(vector.description),
      "reference": .string(vector.reference), "cases": strings(vector.cases),
      "profiles": strings(vector.profiles.map(\.rawValue)),
      "bug_classes": strings(vector.flags.map(\.bugClass.rawValue)),
      "importance": .string(vector.importance.rawValue), "features": strings(vector.features),
      "protocol": .string(vector.session.protocolName), "stage": .string(vector.expectation.stage.rawValue),
      "codes": strings(vector.expectation.codes), "warnings": strings(vector.expectation.warnings ?? []),
    ]
  }

  private static func text(_ vector: TestVector, _ width: Int, _ style: Style) -> String {
    let expectation = vector.expectation
    let codes = expectation.isAccepted ? "accepted" : expectation.codes.joined(separator: ", ")
    let warnings = (expectation.warnings ?? []).isEmpty ? "" : "; warns \(expectation.warnings ?? [])"
    let cases = vector.cases.isEmpty ? "" : style("  [\(vector.cases.joined(separator: " "))]", .faint)
    return style(Printable.line(vector.id), .bold) + cases + "\n"
      + "  " + Wrapping.wrap(Printable.line(vector.description), indent: 2, width: width) + "\n"
      + "  → " + Wrapping.wrap(Printable.line(codes + warnings), indent: 4, width: width)
  }
}

/// `mdoc vectors lint`: checks whether a suite keeps its own rules.
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
