import Base
import Mock

enum MockVariants {
  static let command = Command(
    "variants", "list every variant of a response, with the codes that a verifier finds", options: [.json],
    examples: [
      .init("List every variant", "mdoc mock variants"),
      .init("Print only the names", "mdoc mock variants --json | jq -r '.[].name'"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let published = MockPublishedList.chosen.map(\.variant)
    let variants =
      MockVariant.all.map { json($0, needsPublisher: false) } + published.map { json($0, needsPublisher: true) }
    let heading =
      "Documents that name a list of the mock publisher (mdoc serve --test-mode, mdoc mock publish), for a "
      + "verifier that checks revocation:"
    let report: [Report] = [
      .document(variants.json), .section(MockVariant.all.flatMap(text)),
      .section([.paragraph("\(heading)", lead: "")] + published.flatMap(text)),
    ]
    arguments.print(report)
  }

  private static func json(_ variant: MockVariant, needsPublisher: Bool) -> JSON {
    .of([
      "name": variant.name, "summary": variant.summary, "codes": variant.codes.map(\.rawValue),
      "warnings": variant.warnings.map(\.rawValue), "clause": variant.code?.registered?.entry.clause,
      "cases": variant.cases, "applies_to": variant.applicability.rawValue, "fixed_clock": variant.needsFixedClock,
      "needs_publisher": needsPublisher,
    ])
  }

  private static func text(_ variant: MockVariant) -> [Report] {
    let codes = variant.codes.isEmpty ? "verifies" : variant.codes.map(\.rawValue).joined(separator: ", ")
    let warnings = variant.warnings.isEmpty ? "" : "; warns \(variant.warnings.map(\.rawValue).joined(separator: ", "))"
    return Report.summary(of: variant.name, variant.cases, variant.summary, "\(codes)\(warnings)")
  }
}

extension Report {
  /// A case in three lines: its name, its description, and its verdict.
  static func summary(of name: String, _ cases: [String], _ description: String, _ verdict: String) -> [Report] {
    [
      .line(.bold(name), .faint(cases.isEmpty ? "" : "  [\(cases.joined(separator: " "))]")),
      .paragraph("\(description)"), .paragraph("\(verdict)", lead: "  → "),
    ]
  }
}
