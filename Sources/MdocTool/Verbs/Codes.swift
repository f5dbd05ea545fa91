import Primitives

/// `mdoc codes`: the registry of every check and refusal.
enum CodesCommand {
  static let command = Command(
    "codes", "list every code with its meaning, clause, HTTP status and remedy",
    options: [.markdown, .json],
    notes: ["A code that warns rejects in strict mode alone. HTTP 200 is a verdict inside a session."],
    examples: [
      .init("What does a code mean?", "mdoc codes | grep -A 3 trust.issuer_unknown"),
      .init("The registry for programs", "mdoc codes --json"),
      .init("The tables of the README", "mdoc codes --markdown"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    if arguments.has(.json) {
      console.print(.array(Code.allCases.map(json)))
    } else if arguments.has(.markdown) {
      console.print(CodeTables.markdown)
    } else {
      console.print(Code.allCases.map { text($0, console) }.joined(separator: "\n\n"))
    }
    return .done
  }

  private static func json(_ code: Code) -> JSON {
    let entry = code.entry
    return [
      "code": .string(code.rawValue), "summary": .string(entry.summary), "clause": .string(entry.clause),
      "http_status": .integer(Int64(entry.httpStatus)), "remedy": .string(entry.remedy),
      "warning": .bool(entry.isWarning), "cases": .array(entry.cases.map { .string($0) }),
    ]
  }

  private static func text(_ code: Code, _ console: Console) -> String {
    let entry = code.entry
    let status = "HTTP \(entry.httpStatus)" + (entry.isWarning ? ", warns" : "")
    let rows = [
      entry.summary + ".", "\(entry.clause) · \(status)", entry.remedy,
      entry.cases.isEmpty ? "" : "Cases " + entry.cases.joined(separator: " "),
    ]
    let style = Style(isColored: console.isColored)
    return ([style(code.rawValue, .bold)] + rows.filter { !$0.isEmpty }.map(indented(console.width))).joined(
      separator: "\n")
  }

  private static func indented(_ width: Int) -> (String) -> String {
    { "  " + Wrapping.wrap($0, indent: 2, width: width) }
  }
}

extension Option {
  fileprivate static let markdown = Option(flag: "markdown", "print Markdown tables, as the README has them")
}
