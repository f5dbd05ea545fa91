import Base
import PKIX

/// An explained chain for people.
struct ExplanationText: Sendable {
  let width: Int
  let style: Style

  /// The last line of every explanation.
  var caution: String {
    style("NOTHING OF A DOCUMENT IS VERIFIED HERE", .bold, .yellow) + "  "
      + Wrapping.wrap("it is only told where its signer's certificates lead. mdoc verify verifies.", width: width - 40)
  }

  func block(_ explained: ExplainedChain) -> String {
    let explanation = explained.explanation
    let names = explanation.chain.enumerated().map { index, certificate in
      (index == 0 ? "Signer" : "Then", "\(certificate.subject.text), \(certificate.fingerprint)")
    }
    let rows = [("Document type", explained.docType)] + names + issuer(explanation)
    return [
      style(Printable.line(explained.chain.source), .bold) + "\n  " + headline(explanation) + "\n" + columns(rows),
      ChecksText(width: width, style: style).block("Checks of the path", explanation.evaluation.checks),
      anchors(explanation, at: explained.now),
    ].joined(separator: "\n\n")
  }

  private func headline(_ explanation: PathExplanation) -> String {
    guard let anchor = explanation.evaluation.anchor else {
      return style("NO ANCHOR", .bold, .red) + "  the chain leads to none of those that are trusted"
    }
    let name = Printable.line(anchor.certificate.subject.text)
    return explanation.evaluation.isTrusted
      ? style("CHAINS", .bold, .green) + "  to \(name)"
      : style("NOT ACCEPTED", .bold, .red) + "  it leads to \(name), but a check fails"
  }

  private func issuer(_ explanation: PathExplanation) -> [(String, String)] {
    guard let last = explanation.chain.last else { return [("Signer", "no certificate could be read")] }
    return last.isSelfSigned ? [] : [("Issued by", last.issuer.text)]
  }

  private func anchors(_ explanation: PathExplanation, at now: Timestamp) -> String {
    let blocks = explanation.candidates.map { candidate -> String in
      let certificate = candidate.anchor.certificate
      let reasons =
        candidate.obstacles.isEmpty
        ? [("Yes", candidate.isChosen ? "the path ends here" : "it would do as well; the other comes first")]
        : candidate.obstacles.map { (candidate.isChosen ? "But" : "No", "\($0.name): \($0.summary)") }
      let types = [("For", candidate.anchor.docTypes?.joined(separator: ", ") ?? "any document type (not configured)")]
      return "  " + style(Printable.line(certificate.subject.text), .bold) + "\n"
        + columns([("Source", candidate.anchor.source)] + certificate.summaryRows(at: now) + types + reasons, indent: 4)
    }
    return ([style("Anchors", .bold)] + blocks).joined(separator: "\n")
  }

  private func columns(_ rows: [(String, String)], indent: Int = 2) -> String {
    Wrapping.columns(rows.map { (Printable.line($0.0), Printable.line($0.1)) }, indent: indent, width: width)
  }
}
