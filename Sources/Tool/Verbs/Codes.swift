import Base
import Mock
import Sessions

enum CodesCommand {
  static let command = Command(
    "codes", "list every code with its meaning, clause, HTTP status and remedy", options: [.markdown, .json],
    operand: Operand(
      placeholder: "CODE", help: "a code, or a prefix of several (default: all)", isRepeatable: true, isOptional: true),
    notes: [
      "A code that is a warning rejects only in strict mode. HTTP status 200 means that the code is a session's "
        + "verdict."
    ],
    examples: [
      .init("Explain a code", "mdoc codes trust.issuer_unknown"),
      .init("Explain all codes about a device's signature", "mdoc codes mdoc.device_auth"),
      .init("Print the registry as JSON", "mdoc codes --json"),
      .init("Print the tables of the documentation", "mdoc codes --markdown"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let codes = try codes(arguments.operands)
    if arguments.has(.markdown) {
      if let name = arguments.operand { throw .usage("--markdown prints all codes; leave out \(name)") }
      arguments.console.print(CodeTables.markdown)
    } else {
      arguments.print([.document(codes.map(json).json)] + codes.map(text))
    }
  }

  /// The codes with these names, and all codes below them; all codes if `names` is empty.
  private static func codes(_ names: [String]) throws(Failure) -> [Code] {
    for name in names where !Code.allCases.contains(where: { $0.lies(below: name) }) {
      throw .unknown("code", name, among: Code.allCases.map(\.rawValue))
    }
    return Code.allCases.filter { code in names.isEmpty || names.contains(where: code.lies) }
  }

  private static func json(_ code: Code) -> JSON {
    let entry = code.entry
    return .members([
      "code": code.rawValue.json, "summary": entry.summary.json, "passed": code.passedSentence?.json,
      "clause": entry.clause.json, "http_status": code.httpStatus.json, "remedy": entry.remedy.json,
      "warning": entry.isWarning.json, "cases": cases(code).json,
    ])
  }

  private static func text(_ code: Code) -> Report {
    let entry = code.entry
    let cases = cases(code)
    let lines = [
      entry.summary + ".", "\(entry.clause) · HTTP \(code.httpStatus)" + (entry.isWarning ? ", warns" : ""),
      entry.remedy,
      code.passedSentence.map { "Passed: \($0)." }, cases.isEmpty ? nil : "Cases " + cases.joined(separator: " "),
    ]
    return .section([.line(.bold(code.rawValue))] + lines.compactMap { $0 }.map { .paragraph("\($0)") })
  }

  /// The negative cases of the code, such as `C05`, from its mock variants and its declaration.
  private static func cases(_ code: Code) -> [String] { Set(code.entry.cases).union(variantCases[code] ?? []).sorted() }

  private static let variantCases = Dictionary(
    (MockVariant.all + MockPublishedList.chosen.map(\.variant)).flatMap { variant in
      (variant.code.map { [$0] } ?? variant.warnings).map { ($0, Set(variant.cases)) }
    }, uniquingKeysWith: { $0.union($1) })
}

extension Code {
  fileprivate func lies(below name: String) -> Bool { rawValue == name || rawValue.hasPrefix(name + ".") }
}

extension Option {
  fileprivate static let markdown = Option(flag: "markdown", "print Markdown tables, as in the documentation")
}

/// The registry of codes as Markdown, with one table for each heading of groups. The documentation has exactly this
/// text.
enum CodeTables {
  static var markdown: String {
    var tables: [(title: String, codes: [Code])] = []
    for group in CodeGroup.all {
      if let index = tables.firstIndex(where: { $0.title == group.title }) {
        tables[index].codes += group.codes
      } else {
        tables.append((group.title, group.codes))
      }
    }
    return tables.map { title, codes in
      MarkdownTable.text([title, "Clause", "Code", "Then"], codes.map(row))
    }.joined(separator: "\n\n")
  }

  private static func row(_ code: Code) -> [String] {
    let entry = code.entry
    let consequence =
      switch (code.httpStatus, entry.isWarning) {
      case (200, true): "warns"
      case (200, false): "refused"
      default: "HTTP \(code.httpStatus)"
      }
    return [entry.summary, entry.clause, "`\(code.rawValue)`", consequence]
  }
}
