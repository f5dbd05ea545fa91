import PKIX
import Primitives
import Trust

/// `mdoc trust`: what trust anchors say and what they are trusted for.
enum TrustCommand {
  static let command = Command("trust", "look at trust anchors", verbs: [list])

  private static let list = Command(
    "list", "list the trust anchors of files and folders",
    options: [.trust, .at, .json],
    examples: [
      .init("A folder of anchors with their settings", "mdoc trust list --trust anchors/"),
      .init("Will they still be valid then?", "mdoc trust list --trust iaca.pem --at 2030-01-01"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let store = try TrustFiles.store(arguments.values(.trust))
    if arguments.has(.json) {
      console.print([
        "trust_snapshot": .string(store.snapshot), "anchors": .array(store.anchors.map { json($0, at: now) }),
      ])
    } else {
      let style = Style(isColored: console.isColored)
      let blocks = store.anchors.map { text($0, at: now, console.width, style) }
      console.print((blocks + ["Trust snapshot \(store.snapshot)"]).joined(separator: "\n\n"))
    }
    return .done
  }

  private static func json(_ anchor: TrustAnchor, at now: Timestamp) -> JSON {
    let certificate = anchor.certificate
    return [
      "subject": .string(name(certificate.subject)), "sha256": .string(Hex.encode(certificate.sha256)),
      "doc_types": anchor.docTypes.map { .array($0.map { .string($0) }) } ?? .null,
      "not_before": .integer(certificate.validity.lowerBound.secondsSince1970),
      "expires_at": .integer(certificate.validity.upperBound.secondsSince1970),
      "valid": .bool(certificate.validity.contains(now)), "source": .string(anchor.source),
      "tier": .string(anchor.tier.rawValue), "mock": .bool(certificate.isMock),
    ]
  }

  private static func text(_ anchor: TrustAnchor, at now: Timestamp, _ width: Int, _ style: Style) -> String {
    let certificate = anchor.certificate
    let validity = certificate.validity
    let state = validity.contains(now) ? "" : now > validity.upperBound ? "  EXPIRED" : "  NOT YET VALID"
    let rows = [
      ("SHA-256", Hex.encode(certificate.sha256)),
      ("Document types", anchor.docTypes?.joined(separator: ", ") ?? "any (not configured)"),
      ("Valid", "\(validity.lowerBound) to \(validity.upperBound)\(state)"),
      ("Tier", anchor.tier.rawValue + (certificate.isMock ? ", made by the mock authority" : "")),
      ("Source", anchor.source),
    ]
    return style(Printable.line(name(certificate.subject)), .bold) + "\n"
      + Wrapping.columns(rows.map { ($0.0, Printable.line($0.1)) }, width: width)
  }

  private static func name(_ name: DistinguishedName) -> String {
    let parts = [
      name.commonName.map { "CN=\($0)" }, name.organization.map { "O=\($0)" },
      name.stateOrProvince.map { "ST=\($0)" }, name.country.map { "C=\($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "(no name)" : parts.joined(separator: ", ")
  }
}
