import Base
import Vectors

enum VectorsCommand {
  static let command = Command(
    "vectors", "test a verifier with the corpus of right and wrong responses",
    verbs: [
      VectorsRun.command, VectorsList.command, VectorsShow.command, VectorsExtract.command, VectorsLint.command,
      VectorsServeHarness.command, VectorsMatrix.command, VectorsPack.command,
    ])

  static func suite(_ arguments: Arguments) throws(Failure) -> VectorSuite {
    let path = try arguments.required(.suite)
    return try readable { try VectorSuite(at: path) }
  }

  static func entry(_ id: String, in suite: VectorSuite) throws(Failure) -> VectorSuite.Entry {
    if let entry = suite.entry(id) { return entry }
    let near = Spelling.near(id, among: suite.entries.map(\.vector.id))
    let hint = near.isEmpty ? "; mdoc vectors list shows them" : "; did you mean \(near.joined(separator: ", "))?"
    throw .usage("unknown case \(id)" + hint)
  }
}

extension Option {
  static let suite = Option("suite", "DIR", "the folder of vectors, or a packed corpus", fallback: "TestVectors")
  static let filter = Option("filter", "ID", "only cases whose id contains this")
}

enum VectorsList {
  static let command = Command(
    "list", "list the cases with their faults and expected verdicts", options: [.suite, .filter, .json],
    examples: [
      .init("List every case", "mdoc vectors list"),
      .init("Count the cases of each group", "mdoc vectors list --json | jq -r '.[].group' | sort | uniq -c"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let filter = arguments.value(.filter) ?? ""
    let entries = try VectorsCommand.suite(arguments).entries.filter { filter.isEmpty || $0.vector.id.contains(filter) }
    arguments.print([.document(entries.map(json).json)] + entries.flatMap { text($0.vector) })
  }

  private static func json(_ entry: VectorSuite.Entry) -> JSON {
    let vector = entry.vector
    return .of([
      "id": vector.id, "group": entry.group, "description": vector.description, "reference": vector.reference,
      "cases": vector.cases, "profiles": vector.profiles.map(\.rawValue),
      "bug_classes": vector.flags.map(\.bugClass.rawValue), "importance": vector.importance.rawValue,
      "features": vector.features, "protocol": vector.session.protocolName, "stage": vector.expectation.stage.rawValue,
      "codes": vector.expectation.codes, "warnings": vector.expectation.warnings ?? [],
    ])
  }

  private static func text(_ vector: TestVector) -> [Report] {
    let codes = vector.expectation.isAccepted ? "accepted" : vector.expectation.codes.joined(separator: ", ")
    let warnings = vector.expectation.warnings ?? []
    let verdict = codes + (warnings.isEmpty ? "" : "; warns \(warnings.joined(separator: ", "))")
    return Report.summary(of: vector.id, vector.cases, vector.description, verdict)
  }
}

enum VectorsLint {
  static let command = Command(
    "lint", "check a suite's files: schema, names, codes, stages, one fault each",
    options: [.suite, .json],
    notes: ["Exit status: 0 the suite has no findings, 1 the suite has findings, 65 the suite cannot be read."],
    examples: [.init("Check a suite before a commit", "mdoc vectors lint --suite TestVectors")], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let path = try arguments.required(.suite)
    let lint = try readable { try SuiteLint(at: path) }
    arguments.print(
      [
        .members([
          "vectors": lint.count, "findings": lint.findings.map { JSON.of(["path": $0.path, "problem": $0.problem]) },
        ])
      ] + lint.findings.map { .line("\($0)") }
        + [.line("\(lint.count) vectors, \(lint.findings.count) findings")])
    return lint.findings.isEmpty && lint.count > 0 ? .done : .rejected
  }
}
