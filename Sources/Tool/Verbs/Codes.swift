import Base
import Sessions
import Vectors

/// `mdoc codes`: the registry of every check and refusal.
enum CodesCommand {
  static let command = Command(
    "codes", "list every code with its meaning, clause, HTTP status and remedy",
    options: [.markdown, .json],
    operand: Operand(
      placeholder: "CODE", help: "a code, or how several begin (default: all)", isRepeatable: true, isOptional: true),
    notes: ["A code that warns rejects in strict mode alone. HTTP 200 is a verdict inside a session."],
    examples: [
      .init("What does a code mean?", "mdoc codes trust.issuer_unknown"),
      .init("All that may be wrong with a device's signature", "mdoc codes mdoc.device_auth"),
      .init("The registry for programs", "mdoc codes --json"),
      .init("The tables of the README", "mdoc codes --markdown"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let codes = try codes(arguments.operands)
    if arguments.has(.markdown) {
      if let name = arguments.operand { throw .usage("--markdown prints all codes; leave out \(name)") }
      console.print(CodeTables.markdown)
    } else if arguments.has(.json) {
      console.print(.array(codes.map(json)))
    } else {
      console.print(codes.map { text($0, console) }.joined(separator: "\n\n"))
    }
    return .done
  }

  /// Those of these names, and those that lie below them.
  private static func codes(_ names: [String]) throws(Failure) -> [Code] {
    for name in names where !Code.allCases.contains(where: { $0.lies(below: name) }) {
      let nearest = NearestName.of(name, among: Code.allCases.map(\.rawValue))
      throw .usage("there is no code \(name)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
    }
    return Code.allCases.filter { code in names.isEmpty || names.contains(where: code.lies) }
  }

  private static func json(_ code: Code) -> JSON {
    let entry = code.entry
    return [
      "code": .string(code.rawValue), "summary": .string(entry.summary), "clause": .string(entry.clause),
      "http_status": .integer(Int64(code.httpStatus)), "remedy": .string(entry.remedy),
      "warning": .bool(entry.isWarning), "cases": .array(code.cases.map { .string($0) }),
    ]
  }

  private static func text(_ code: Code, _ console: Console) -> String {
    let entry = code.entry
    let status = "HTTP \(code.httpStatus)" + (entry.isWarning ? ", warns" : "")
    let rows = [
      entry.summary + ".", "\(entry.clause) · \(status)", entry.remedy,
      code.cases.isEmpty ? "" : "Cases " + code.cases.joined(separator: " "),
    ]
    let style = Style(isColored: console.isColored)
    return ([style(code.rawValue, .bold)] + rows.filter { !$0.isEmpty }.map(indented(console.width))).joined(
      separator: "\n")
  }

  private static func indented(_ width: Int) -> (String) -> String {
    { "  " + Wrapping.wrap($0, indent: 2, width: width) }
  }
}

extension Code {
  fileprivate func lies(below name: String) -> Bool { rawValue == name || rawValue.hasPrefix(name + ".") }
}

extension Option {
  fileprivate static let markdown = Option(flag: "markdown", "print Markdown tables, as the README has them")
}
