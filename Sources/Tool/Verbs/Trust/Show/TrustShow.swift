import Base
import PKIX
import Trust

/// `mdoc trust show`: what a file says about whom to trust, and whether that may be believed.
enum TrustShow {
  static let command = Command(
    "show", "show what a VICAL, list of trusted entities, CRL, status list or certificate says",
    options: [.signerAnchor, .at, .json],
    operand: Operand(placeholder: "FILE", help: "its kind is told by its content"),
    notes: [
      "Without --signer-anchor a list is shown as it is written and called UNVERIFIED: anybody could have signed it. For "
        + "a CRL the anchor is the authority that issued it. Nothing becomes trusted here, and no list is remembered.",
      "Exit status: 0 shown (and accepted, where --signer-anchor is given), 1 refused, 64 usage, 65 the file is of no "
        + "such kind or cannot be read.",
    ],
    examples: [
      .init("AAMVA's list, under its root", "mdoc trust show vical.cbor --signer-anchor aamva-root.pem"),
      .init("What a list says, and who claims to have signed it", "mdoc trust show pid-providers.jwt --json"),
      .init("A revocation list at a time", "mdoc trust show iaca.crl --signer-anchor iaca.pem --at 2026-11-20"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let path = arguments.operand ?? ""
    let bytes = try FileAccess.read(path, purpose: "file")
    let shown = try shown(bytes, path, signers: arguments.signerAnchors(), at: now)
    if arguments.has(.json) {
      console.print(shown.json)
    } else {
      console.print(ShownText(width: console.width, style: Style(isColored: console.isColored)).text(shown))
    }
    return shown.state == .refused ? .rejected : .done
  }

  private static func shown(
    _ bytes: [UInt8], _ path: String, signers: [Certificate], at now: Timestamp
  ) throws(Failure) -> ShownFile {
    if let list = try? UnverifiedCRL(parsing: bytes) {
      return ShownFile(list, bytes: bytes, authorities: signers, at: now)
    }
    if let found = try? FoundCertificate.inFile(path), found.contains(where: { $0.certificate != nil }) {
      return ShownFile(CertificateFindings.of(found, as: nil, at: now), at: now)
    }
    if let token = UnverifiedStatusToken(bytes) { return ShownFile(token, at: now) }
    if let list = ListFile(bytes) { return ShownFile(list, signers: signers, at: now) }
    throw .unreadable("file \(path): is no VICAL, list of trusted entities, CRL, status list or certificate")
  }
}

/// A shown file for people.
struct ShownText: Sendable {
  let width: Int
  let style: Style

  func text(_ shown: ShownFile) -> String {
    var head = [style(Printable.line(shown.title), .bold), "  " + headline(shown)]
    if !shown.rows.isEmpty { head.append(columns(shown.rows)) }
    let entries = shown.entries.map { entry in
      ([style(Printable.line(entry.title), .bold)] + (entry.rows.isEmpty ? [] : [columns(entry.rows)]))
        .joined(separator: "\n")
    }
    let count = shown.entries.count == 1 ? "1 entry" : "\(shown.entries.count) entries"
    let checks = ChecksText(width: width, style: style).block("Checks", shown.checks)
    return ([head.joined(separator: "\n")] + entries + [count, checks]).filter { !$0.isEmpty }
      .joined(separator: "\n\n")
  }

  private func headline(_ shown: ShownFile) -> String {
    let word =
      switch shown.state {
      case .accepted: style("ACCEPTED", .bold, .green)
      case .refused: style("REFUSED", .bold, .red)
      case .unverified: style("UNVERIFIED", .bold, .yellow)
      }
    return Wrapping.wrap(word + (shown.caution.map { "  \($0)" } ?? ""), indent: 4, width: width)
  }

  private func columns(_ rows: [(String, String)]) -> String {
    Wrapping.columns(rows.map { (Printable.line($0.0), Printable.line($0.1)) }, width: width)
  }
}
