import App
import Base

/// Writes reports as text.
struct TextPrinter {
  let width: Int
  /// True if the terminal shows emphasis.
  let isColored: Bool
  /// True to show only a count for each group of passed checks and checks that were not run.
  var folds = false

  func text(_ report: [Report]) -> String {
    var blocks: [[String]] = [[]]
    var rows: [(String, String)] = []
    func endTable() {
      if !rows.isEmpty { blocks[blocks.count - 1].append(columns(rows)) }
      rows = []
    }
    func add(_ text: String) {
      guard !text.isEmpty else { return }
      endTable()
      blocks[blocks.count - 1].append(text)
    }
    func separate(_ text: String) {
      guard !text.isEmpty else { return }
      endTable()
      blocks += [[text], []]
    }
    for node in report {
      switch node {
      case .object, .document, .image, .page: break
      case .verdict(let spans): add(line(spans, [], nil))
      case .heading(let text, let note, let level):
        add(line([.bold(text), "\(note)"], [Span(Wrapping.spaces(2 * level - 2))], nil))
      case .checks(let title, let checks): separate(checks.isEmpty ? "" : text([.heading(title)] + lines(checks)))
      case .labelled(let label, let text, _): rows += text.map { [(label, $0)] } ?? []
      case .table(let rows, let indent, let leftLimit, let width):
        add(columns(rows, indent: indent, leftLimit: leftLimit, width: width))
      case .text(let spans, let lead, let hanging): add(line(spans, lead, hanging))
      case .verbatim(let text): add(text)
      case .section(let nodes): separate(text(nodes))
      case .list(_, let items): separate(items.map(text).filter { !$0.isEmpty }.joined(separator: "\n\n"))
      }
    }
    endTable()
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private static let margin = Wrapping.spaces(11)

  /// Shows each finding in words, with the code, the clause and the detail below.
  private func lines(_ checks: [Check]) -> [Report] {
    let shown = folds ? checks.filter(\.isNotable) : checks
    let groups = folds ? CheckGroup.groups(of: checks.filter { !$0.isNotable }) : []
    return shown.flatMap(lines) + groups.map(line)
  }

  private func lines(_ check: Check) -> [Report] {
    let label: [Span] = ["  ", check.outcome.label, "  "]
    let sentence = check.sentence
    let name: [Span] = [.faint("\(check.code.rawValue) · \(check.clause)")]
    return (sentence.map { [.text(["\($0)"], lead: label, hanging: 11)] } ?? [])
      + [.text(name, lead: sentence == nil ? label : [Span(Self.margin)], hanging: 11)]
      + (check.detail.map { [.paragraph("\($0)", lead: Self.margin)] } ?? [])
  }

  /// A group's title with the number of its checks.
  private func line(_ group: CheckGroup) -> Report {
    let outcome: Check.Outcome = group.checks.contains { $0.outcome == .passed } ? .passed : .notRun
    let isUniform = group.checks.allSatisfy { $0.outcome == outcome }
    let counts = isUniform ? "\(group.checks.count)" : Report.counts(of: group.checks, all: false)
    return .text(["\(group.title) ", .faint("(\(counts))")], lead: ["  ", outcome.label, "  "], hanging: 11)
  }

  private func columns(_ rows: [(String, String)], indent: Int = 2, leftLimit: Int = 30, width: Int? = nil) -> String {
    Wrapping.columns(
      rows.map { ($0.0.printableLine, $0.1.printableLine) }, indent: indent, leftLimit: leftLimit,
      width: width ?? self.width)
  }

  private func line(_ spans: [Span], _ lead: [Span], _ hanging: Int?) -> String {
    let (start, rest) = (lead.map(styled).joined(), spans.map(styled).joined())
    guard let hanging else { return start + rest }
    let leadWidth = lead.reduce(0) { $0 + $1.text.count }
    return start + Wrapping.wrap(rest, indent: hanging, width: width - max(0, leadWidth - hanging))
  }

  private func styled(_ span: Span) -> String {
    let text = span.text.printableLine
    guard isColored, !text.isEmpty, !span.emphasis.isEmpty else { return text }
    return "\u{1b}[\(span.emphasis.map(\.rawValue).joined(separator: ";"))m\(text)\u{1b}[0m"
  }
}

/// Makes output safe to print.
enum Printable {
  /// Writes DEL, every control of the second block (C1), every directional control and every Unicode line separator as
  /// `\uXXXX`. In a JSON string, the escape denotes the same character.
  static func withoutHiddenControls(_ text: [UInt8]) -> [UInt8] {
    // In UTF-8, every such character begins with one of these bytes. Most texts have none of them.
    guard text.contains(where: { [0x7f, 0xc2, 0xd8, 0xe2].contains($0) }) else { return text }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      if scalar.isHiddenControl {
        let digits = String(scalar.value, radix: 16)
        output += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      } else {
        output += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
    return output
  }
}

/// Wraps text into lines of a given width.
enum Wrapping {
  /// Breaks a paragraph at spaces, and indents all lines but the first. Spaces within a line stay unchanged.
  static func wrap(_ text: String, indent: Int = 0, width: Int) -> String {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Wraps words into lines, after the text `first`. Words are never broken. Further lines are indented by the length
  /// of `first`.
  static func wrap(words: [String], first: String, width: Int) -> String {
    let indent = first.count
    return first + lines(words, width: max(20, width - indent)).joined(separator: "\n" + spaces(indent))
  }

  /// Two indented columns. A left cell that is too long gets its own line.
  static func columns(_ rows: [(String, String)], indent: Int = 2, leftLimit: Int = 30, width: Int) -> String {
    let left = rows.map(\.0.count).filter { $0 <= leftLimit }.max() ?? leftLimit
    let start = indent + left + 2
    return rows.map { name, text in
      let cell = spaces(indent) + name
      let body = wrap(text, indent: start, width: width)
      if name.count > left { return cell + "\n" + spaces(start) + body }
      return body.isEmpty ? cell : cell + spaces(start - cell.count) + body
    }.joined(separator: "\n")
  }

  static func padded(_ text: String, to width: Int) -> String { text + spaces(width - text.count) }

  static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  /// Puts the words on lines of at most `width` characters. A longer word gets its own line.
  static func lines(_ words: [String], width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words {
      if line.isEmpty {
        line = word
      } else if visibleWidth(line) + 1 + visibleWidth(word) <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = word
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// The number of characters without the escapes of emphasis.
  private static func visibleWidth(_ text: String) -> Int {
    let parts = text.split(separator: "\u{1b}", omittingEmptySubsequences: false)
    return parts[0].count + parts.dropFirst().reduce(0) { $0 + $1.drop { $0 != "m" }.dropFirst().count }
  }
}
