import Base
import Mock

/// `mdoc mock variants`: every way of answering that the mock wallet knows.
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
      "cases": .array(variant.cases.map { .string($0) }), "applies_to": .string(appliesTo(variant)),
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

  private static func appliesTo(_ variant: MockVariant) -> String {
    switch variant.applicability {
    case .anyProtocol: "any_protocol"
    case .appleInApp: "apple_in_app"
    case .notAppleInApp: "not_apple_in_app"
    case .deviceMAC: "device_mac"
    case .withoutReaderKey: "without_reader_key"
    case .annexC: "annex_c"
    case .openID4VP: "openid4vp"
    case .openID4VPEncrypted: "openid4vp_encrypted"
    case .openID4VPDigitalCredentials: "openid4vp_digital_credentials"
    case .openID4VPRedirect: "openid4vp_redirect"
    case .annexB: "annex_b"
    }
  }
}
