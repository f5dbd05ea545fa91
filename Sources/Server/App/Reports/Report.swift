import Base
import Sessions

/// A report as one tree. Printers make all outputs from it: lines of text, a page, and the members of a JSON object.
///
/// The printers escape control characters in every text except `.verbatim`. Much of the text comes from other parties'
/// files.
package indirect enum Report: Sendable {
  /// Members that appear only in the JSON.
  case object([JSON.Member])
  /// The whole report as JSON.
  case document(JSON)
  /// The verdict in one line; its first span is coloured.
  case verdict([Span])
  /// A heading, its note, and its level. Level 1 begins a part; level 2 is below level 1.
  case heading(String, note: String = "", level: Int = 1)
  /// A label and its value, in one table with the neighbouring rows. A nil value gives no row. The value may also be
  /// written as a JSON member.
  case labelled(String, String?, JSON.Member? = nil)
  /// A table that appears only in text and on the page.
  case table([(String, String)], indent: Int = 2, leftLimit: Int = 30, width: Int? = nil)
  /// A line of text. With `hanging`, the line wraps after its lead. Further lines are indented by that number of
  /// columns.
  case text([Span], lead: [Span] = [], hanging: Int? = nil)
  /// Lines of text that need no escapes.
  case verbatim(String)
  /// Checks under a title. Failed checks and warnings are shown in full. A printer may collapse all others into their
  /// groups.
  case checks(String, [Check])
  /// An image of this media type in base64; only on a page.
  case image(String, mediaType: String, base64: String)
  /// A part of the same object; in text, empty lines surround it.
  case section([Report])
  /// A member that is an array of objects; in text, empty lines separate the objects.
  case list(String, [[Report]])
  /// A part that appears only on a page.
  case page([Report])

  package static func row(_ label: String, _ text: String?) -> Report { .labelled(label, text) }

  package static func line(_ spans: Span...) -> Report { .text(spans) }

  /// A line between empty lines.
  package static func note(_ spans: Span...) -> Report { .section([.text(spans)]) }

  package static func paragraph(_ spans: Span..., lead: String = "  ", hanging: Int? = nil) -> Report {
    .text(spans, lead: [Span(lead)], hanging: hanging ?? lead.count)
  }

  /// The number of checks by outcome.
  /// - Parameter all: whether to include outcomes that no check has.
  package static func counts(of checks: [Check], all: Bool = true) -> String {
    [(Check.Outcome.passed, "passed"), (.failed, "failed"), (.warning, "warned"), (.notRun, "not run")]
      .map { outcome, word in (checks.count { $0.outcome == outcome }, word) }.filter { all || $0.0 > 0 }
      .map { "\($0) \($1)" }.joined(separator: ", ")
  }
}

/// A piece of a line with its emphasis.
package struct Span: Sendable, ExpressibleByStringInterpolation {
  package enum Emphasis: String, Sendable {
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  package let text: String
  package let emphasis: [Emphasis]

  package init(_ text: String, _ emphasis: Emphasis...) {
    self.text = text
    self.emphasis = emphasis
  }

  package init(stringLiteral text: String) { self.init(text) }

  package static func bold(_ text: String) -> Span { Span(text, .bold) }
  package static func faint(_ text: String) -> Span { Span(text, .faint) }
  package static func good(_ text: String) -> Span { Span(text, .bold, .green) }
  package static func bad(_ text: String) -> Span { Span(text, .bold, .red) }
  package static func caution(_ text: String) -> Span { Span(text, .bold, .yellow) }
}

/// Checks under one heading of the code registry.
package struct CheckGroup: Sendable {
  package let title: String
  package private(set) var checks: [Check]

  /// The groups in the order of their first checks.
  package static func groups(of checks: [Check]) -> [CheckGroup] {
    var groups: [CheckGroup] = []
    for check in checks {
      let title = titles[check.code] ?? ""
      if let index = groups.firstIndex(where: { $0.title == title }) {
        groups[index].checks.append(check)
      } else {
        groups.append(CheckGroup(title: title, checks: [check]))
      }
    }
    return groups
  }

  private static let titles = Dictionary(
    CodeGroup.all.flatMap { group in group.codes.map { ($0, group.title) } }, uniquingKeysWith: { first, _ in first })
}

extension Check {
  package var isNotable: Bool { outcome == .failed || outcome == .warning }

  /// The finding in words; nil if the check was not run.
  package var sentence: String? {
    switch outcome {
    case .passed: code.passedSentence
    case .notRun: nil
    case .failed, .warning: code.entry.summary
    }
  }
}

extension Check.Outcome {
  /// Seven columns wide.
  package var label: Span {
    switch self {
    case .passed: Span("passed ", .green)
    case .failed: .bad("FAILED ")
    case .warning: Span("warning", .yellow)
    case .notRun: .faint("not run")
    }
  }
}

extension Array where Element: Hashable {
  /// The elements without duplicates, in the order of their first occurrences.
  package var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
