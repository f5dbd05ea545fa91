import Base
import Sessions

enum ManCommand {
  static let command = Command(
    "man", "print manual pages, or write them: mdoc.1 and one for each verb", options: [.folder],
    operand: Operand(
      placeholder: "VERB", help: "the verb whose page to print, such as \"verify apple\" (default: the program's)",
      isRepeatable: true, isOptional: true),
    examples: [
      .init("Read one page", "mdoc man verify apple | man -l -"),
      .init("Install all pages", "mdoc man --out /usr/local/share/man/man1"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let pages = ManPage.all
    guard let folder = arguments.value(.folder) else {
      let words = arguments.operands.flatMap { $0.split(separator: " ").map(String.init) }
      let name = (["mdoc"] + words).joined(separator: "-")
      guard let page = pages.first(where: { $0.name == name }) else {
        throw .usage("unknown verb \"\(words.joined(separator: " "))\" (mdoc --help lists all verbs)")
      }
      arguments.console.print(page.text)
      return
    }
    guard arguments.operands.isEmpty else { throw .usage("--out writes all pages; leave out the verb") }
    try FileAccess.makeFolder(folder)
    for page in pages { try FileAccess.write(Array((page.text + "\n").utf8), to: "\(folder)/\(page.name).1") }
  }
}

extension Option {
  fileprivate static let folder = Option(
    "out", "FOLDER",
    "write all pages to this folder, one file each")
}

/// One page in the macros of man(7).
struct ManPage {
  /// The page's name without the section, such as `mdoc-verify-apple`.
  let name: String
  let text: String

  static var all: [ManPage] { [program] + Program.root.leaves.map(ManPage.init) }

  private static var program: ManPage {
    let root = Program.root
    var lines = head("mdoc", root.summary)
    lines += [".SH SYNOPSIS", ".B mdoc", ".I VERB", "[\\fIOPTION\\fR]\\&.\\|.\\|.", ".SH VERBS"]
    for leaf in root.leaves {
      lines += [
        ".TP", ".BR \(escaped(leaf.spelled.replacing(" ", with: "-"))) (1)", escaped(leaf.command.summary + "."),
      ]
    }
    lines.append(".SH NOTES")
    lines += paragraphs(root.notes)
    return ManPage(name: "mdoc", text: lines.joined(separator: "\n"))
  }

  private static func head(_ name: String, _ summary: String) -> [String] {
    [
      ".TH \(escaped(name).uppercased()) 1 \"\(ProgramVersion.date)\" \"mdoc \(ProgramVersion.text)\" \"mdoc manual\"",
      ".SH NAME", "\(escaped(name)) \\- \(escaped(summary))",
    ]
  }

  private static func paragraphs(_ notes: [String]) -> [String] {
    Array(notes.map { [escaped($0)] }.joined(separator: [".PP"]))
  }

  /// Escapes text so that troff prints it unchanged: special characters, and lines that look like requests.
  private static func escaped(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": output += "\\e"
      case "-": output += "\\-"
      case "'": output += "\\(aq"
      case "`": output += "\\(ga"
      case "^": output += "\\(ha"
      case "~": output += "\\(ti"
      case "\"": output += "\\(dq"
      case "\u{0}"..."\u{7f}": output.unicodeScalars.append(scalar)
      default:
        // groff requires at least four digits.
        let digits = String(scalar.value, radix: 16, uppercase: true)
        output += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
      }
    }
    return output.hasPrefix(".") ? "\\&" + output : output
  }
}

extension ManPage {
  private init(_ leaf: Command.Leaf) {
    let name = leaf.spelled.replacing(" ", with: "-")
    let help = HelpText(leaf.path, width: 80)
    var lines = Self.head(name, leaf.command.summary)
    lines += [".SH SYNOPSIS", ".nh", ".B \(Self.escaped(leaf.spelled))"]
    lines += help.usage.map(Self.escaped) + [".hy", ".SH OPTIONS"]
    for row in help.rows { lines += [".TP", ".B \(Self.escaped(row.name))", Self.escaped(row.meaning)] }
    if !leaf.command.notes.isEmpty { lines += [".SH NOTES"] + Self.paragraphs(leaf.command.notes) }
    lines.append(".SH EXAMPLES")
    for example in leaf.command.examples {
      lines += [".PP", Self.escaped(example.purpose + ":"), ".PP", ".RS 4", ".nf"]
      lines += example.line.split(separator: "\n", omittingEmptySubsequences: false).map { Self.escaped(String($0)) }
      lines += [".fi", ".RE"]
    }
    lines += [".SH SEE ALSO", ".BR mdoc (1)"]
    self.init(name: name, text: lines.joined(separator: "\n"))
  }
}
