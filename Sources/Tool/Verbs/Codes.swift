import Base
import Mdoc
import Sessions
import Vectors

/// `mdoc codes`: prints the registry of every check and refusal.
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
      .init("The tables of the documentation", "mdoc codes --markdown"),
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

  /// The codes with these names, and all codes below them; all codes if `names` is empty.
  private static func codes(_ names: [String]) throws(Failure) -> [Code] {
    for name in names where !Code.allCases.contains(where: { $0.lies(below: name) }) {
      let nearest = Spelling.nearest(to: name, among: Code.allCases.map(\.rawValue))
      throw .usage("there is no code \(name)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
    }
    return Code.allCases.filter { code in names.isEmpty || names.contains(where: code.lies) }
  }

  private static func json(_ code: Code) -> JSON {
    let entry = code.entry
    return .members([
      "code": .string(code.rawValue), "summary": .string(entry.summary),
      "passed": code.passedSentence.map { .string($0) }, "clause": .string(entry.clause),
      "http_status": .integer(Int64(code.httpStatus)), "remedy": .string(entry.remedy),
      "warning": .bool(entry.isWarning), "cases": .array(code.cases.map { .string($0) }),
    ])
  }

  private static func text(_ code: Code, _ console: Console) -> String {
    let entry = code.entry
    let status = "HTTP \(code.httpStatus)" + (entry.isWarning ? ", warns" : "")
    let rows = [
      entry.summary + ".", "\(entry.clause) · \(status)", entry.remedy,
      code.passedSentence.map { "Passed: \($0)." } ?? "",
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
  fileprivate static let markdown = Option(flag: "markdown", "print Markdown tables, as the documentation has them")
}

/// The registry as Markdown, one table for each group. The documentation contains exactly this text, and a test
/// compares them.
enum CodeTables {
  /// The groups in the order in which an answer is checked, each with a title and the prefixes of its codes. A code
  /// belongs to the first group that fits.
  private static let groups: [(title: String, prefixes: [String])] = [
    ("CBOR, of the envelope and of the response", ["cbor."]),
    ("Envelope: Apple in-app, Annex C, JWE", ["envelope.", "jwe.", "apple."]),
    ("Parameters of OpenID4VP", ["vp_token.", "session.state_"]),
    ("Session with a reader in person", ["proximity."]),
    ("Response", ["mdoc.response."]),
    ("Zero-knowledge proofs", ["zk."]),
    ("Issuer authentication", ["mdoc.issuer_auth.", "cose."]),
    ("Path from the document signer to a trust anchor", ["trust.profile.", "trust."]),
    ("Mobile security object", ["mdoc.mso."]),
    ("Issuer-signed items and their digests", ["mdoc.item.", "mdoc.digest.", "mdoc.element.duplicate"]),
    ("Validity and issuer", ["mdoc.validity.", "mdoc.issuer."]),
    ("Device authentication", ["mdoc.device_key.", "mdoc.device_signed.", "mdoc.device_auth."]),
    ("Revocation", ["revocation."]),
    ("What was asked", ["mdoc.element.", "policy."]),
    ("Reader authentication, of `mdoc verify reader`", ["reader_auth."]),
    ("Lists of trust anchors", ["list."]),
    ("Sessions", ["session."]),
    ("A wallet's own refusal", ["wallet."]),
    ("Exported audit logs", ["audit."]),
    ("Bundles of evidence", ["evidence."]),
    ("HTTP", ["api."]),
    ("Others", [""]),
  ]

  static var markdown: String {
    groups.indices.compactMap { index in
      let codes = Code.allCases.filter { group(of: $0) == index }
      return codes.isEmpty ? nil : table(groups[index].title, codes)
    }.joined(separator: "\n\n")
  }

  private static func group(of code: Code) -> Int {
    groups.firstIndex { group in group.prefixes.contains { code.rawValue.hasPrefix($0) } } ?? groups.endIndex - 1
  }

  private static func table(_ title: String, _ codes: [Code]) -> String {
    let head = "| \(title) | Clause | Code | Then |\n|---|---|---|---|"
    return ([head] + codes.map(row)).joined(separator: "\n")
  }

  private static func row(_ code: Code) -> String {
    let entry = code.entry
    let consequence =
      switch (code.httpStatus, entry.isWarning) {
      case (200, true): "warns"
      case (200, false): "refused"
      default: "HTTP \(code.httpStatus)"
      }
    let cells = [entry.summary, entry.clause, "`\(code.rawValue)`", consequence]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }
}
