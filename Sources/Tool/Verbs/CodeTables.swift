import Base
import Sessions

/// The registry as Markdown, one table a group. The README holds exactly this text; a test compares them.
enum CodeTables {
  /// Titles, and the beginnings of the codes below them, in the order in which an answer is checked. The first group
  /// that fits takes a code.
  private static let groups: [(title: String, prefixes: [String])] = [
    ("CBOR, of the envelope and of the response", ["cbor."]),
    ("Envelope: Apple in-app, Annex C, JWE", ["envelope.", "jwe.", "apple."]),
    ("Parameters of OpenID4VP", ["vp_token.", "session.state_mismatch"]),
    ("Session with a reader in person", ["proximity."]),
    ("Response", ["mdoc.response."]),
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
