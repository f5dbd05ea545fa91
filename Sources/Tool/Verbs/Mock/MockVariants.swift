import Base
import Mock
import Vectors

/// `mdoc mock variants`: lists every way of answering that the mock wallet knows.
enum MockVariants {
  static let command = Command(
    "variants", "list every way of answering, with the codes that a verifier answers",
    options: [.json],
    examples: [
      .init("Every variant", "mdoc mock variants"),
      .init("Their names alone", "mdoc mock variants --json | jq -r '.[].name'"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let published = MockPublishedList.chosen.map(\.variant)
    if arguments.has(.json) {
      console.print(
        .array(
          MockVariant.all.map { json($0, needsPublisher: false) } + published.map { json($0, needsPublisher: true) }))
    } else {
      let style = Style(isColored: console.isColored)
      console.print(MockVariant.all.map { text($0, console.width, style) }.joined(separator: "\n"))
      console.print("\n" + Wrapping.wrap(Self.heading, indent: 0, width: console.width))
      console.print(published.map { text($0, console.width, style) }.joined(separator: "\n"))
    }
    return .done
  }

  private static let heading =
    "Documents that name a list of the mock publisher's (mdoc serve --test-mode, mdoc mock publish), for a verifier "
    + "that asks:"

  private static func json(_ variant: MockVariant, needsPublisher: Bool) -> JSON {
    [
      "name": .string(variant.name), "summary": .string(variant.summary),
      "codes": .array(variant.codes.map { .string($0.rawValue) }),
      "warnings": .array(variant.warnings.map { .string($0.rawValue) }),
      "clause": variant.clause.map { .string($0) } ?? .null,
      "cases": .array(variant.cases.map { .string($0) }), "applies_to": .string(variant.applicability.rawValue),
      "fixed_clock": .bool(variant.needsFixedClock), "needs_publisher": .bool(needsPublisher),
    ]
  }

  private static func text(_ variant: MockVariant, _ width: Int, _ style: Style) -> String {
    let codes = variant.codes.isEmpty ? "verifies" : variant.codes.map(\.rawValue).joined(separator: ", ")
    let warnings = variant.warnings.isEmpty ? "" : "; warns \(variant.warnings.map(\.rawValue).joined(separator: ", "))"
    let cases = variant.cases.isEmpty ? "" : "  [\(variant.cases.joined(separator: " "))]"
    return style(variant.name, .bold) + style(cases, .faint) + "\n"
      + "  " + Wrapping.wrap(variant.summary, indent: 2, width: width) + "\n"
      + "  → " + Wrapping.wrap(codes + warnings, indent: 4, width: width)
  }
}

/// `mdoc mock vectors`: makes the corpus.
enum MockVectors {
  static let command = Command("vectors", "make the corpus of vectors", verbs: [regenerate])

  private static let regenerate = Command(
    "regenerate", "write every vector anew, and remove those that are not declared any more",
    options: [.outFolder, .seed, .circuits, .json],
    notes: [
      "The same seed gives the same bytes. The default is the committed corpus's.",
      "Without --circuits the vectors with zero-knowledge proofs stay as they are.",
    ],
    examples: [.init("After a change to the mock's variants", "mdoc mock vectors regenerate --out TestVectors")],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let seed = try arguments.hex(.seed, length: 1...1_024) ?? CorpusMaker.seed
    let path = try arguments.required(.outFolder)
    let circuits = try CircuitFiles.library(arguments.value(.circuits))
    let made: Regeneration
    do {
      made = try Regeneration(of: CorpusMaker(seed: seed, circuits: circuits), into: path)
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
