import Base
import Vectors

/// `mdoc vectors list`: what the corpus holds.
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
