import Base
import Sessions

/// What verifying audit logs came to, for people.
struct AuditText: Sendable {
  /// Findings to print; one cause can have very many.
  private static let most = 50

  let width: Int
  let style: Style

  func text(_ verdict: AuditVerdict) -> String {
    let more = verdict.findings.count - Self.most
    let blocks =
      verdict.findings.prefix(Self.most).map(block)
      + (more > 0 ? ["and \(more) more findings; --json has them all"] : [])
    let heads = verdict.heads.map { "  \($0.node)  \($0.sequence)  " + style(Hex.encode($0.hash), .faint) }
    let label = verdict.isAccepted ? style("VERIFIED", .bold, .green) : style("REJECTED", .bold, .red)
    let entries = verdict.entries == 1 ? "1 entry" : "\(verdict.entries) entries"
    let nodes = verdict.heads.count == 1 ? "1 node" : "\(verdict.heads.count) nodes"
    let summary = "\(label)  \(entries) of \(nodes)" + (heads.isEmpty ? "" : ", up to")
    return (blocks + [([summary] + heads).joined(separator: "\n")]).joined(separator: "\n\n")
  }

  private func block(_ finding: AuditFinding) -> String {
    let place = finding.place.map { "\($0.file), line \($0.line)" }
    let chain = finding.node.map { node in "\(node)" + (finding.sequence.map { ", entry \($0)" } ?? "") }
    let rows = [
      finding.code.entry.summary, chain, finding.detail, place, "What to do: " + finding.code.entry.remedy,
    ].compactMap { $0 }.map { "  " + Wrapping.wrap(Printable.line($0), indent: 2, width: width) }
    return ([style("FAILED", .bold, .red) + "  \(finding.code.rawValue)"] + rows).joined(separator: "\n")
  }
}
