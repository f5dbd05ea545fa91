import Base
import Cryptography
import PKIX

/// One reading of a published list, whatever its format: what it makes trusted, and what to remember of it.
struct TrustListReading {
  let checks: [Check]
  /// Each trusted no longer than the list.
  let anchors: [TrustAnchor]
  /// Entries that can't be used.
  let leftOut: Int
  let validUntil: Timestamp?
  /// Nil where the list is refused.
  let accepted: AcceptedListFolder.Accepted?

  init(
    _ bytes: [UInt8], as format: PublishedTrustList.Format, after last: AcceptedListFolder.Accepted?,
    at now: Timestamp
  ) {
    let anchors: [TrustAnchor]
    let validUntil: Timestamp?
    switch format {
    case .vical(let source):
      let evaluation = VICALReader(source: source).evaluate(
        bytes, at: now, after: last.map(VICALEvaluation.LastAccepted.init))
      checks = evaluation.checks
      anchors = evaluation.anchors
      leftOut = evaluation.list?.contents.leftOut ?? 0
      validUntil = evaluation.validUntil
      accepted = evaluation.accepted.map {
        .init(bytes: bytes, issued: $0.date, number: $0.issueID, digest: $0.digest)
      }
    case .trustedEntities(let source):
      let evaluation = TrustedEntityListReader(source: source).evaluate(
        bytes, at: now, after: last.map(TrustedEntityListEvaluation.LastAccepted.init))
      checks = evaluation.checks
      leftOut = evaluation.list?.leftOut ?? 0
      anchors = evaluation.anchors.map { anchor in
        var anchor = anchor
        anchor.statusSigners = evaluation.statusListSigners.filter { signer in
          signer.issuers.contains { $0.der == anchor.certificate.der }
        }.map(\.certificate)
        return anchor
      }
      validUntil = evaluation.validUntil
      accepted = evaluation.accepted.map {
        .init(
          bytes: bytes, issued: $0.issued, number: UInt64(clamping: $0.sequenceNumber),
          digest: HashAlgorithm.sha256.hash(bytes))
      }
    }
    self.validUntil = validUntil
    self.anchors = anchors.map { anchor in
      var anchor = anchor
      anchor.trustedUntil = validUntil
      return anchor
    }
  }

  func report(_ name: String, _ outcome: SourceReport.Outcome, _ checks: [Check]) -> SourceReport {
    SourceReport(
      name: name, outcome: outcome, anchorCount: anchors.count, leftOut: leftOut, checks: checks, validUntil: validUntil
    )
  }
}

extension VICALEvaluation.LastAccepted {
  fileprivate init(_ accepted: AcceptedListFolder.Accepted) {
    self.init(date: accepted.issued, issueID: accepted.number, digest: accepted.digest)
  }
}

extension TrustedEntityListEvaluation.LastAccepted {
  fileprivate init(_ accepted: AcceptedListFolder.Accepted) {
    self.init(sequenceNumber: Int64(clamping: accepted.number ?? 0), issued: accepted.issued)
  }
}

/// What is found about a list's parts, each said once, and not more of one code than a person reads: a list may have
/// thousands of entries that are wrong in one way.
struct ListFindings {
  private var details: [(code: Code, text: String)] = []
  private var omitted: [Code: Int] = [:]
  private var seen: Set<String> = []

  mutating func note(_ code: Code, _ text: String) {
    guard seen.insert("\(code.rawValue) \(text)").inserted else { return }
    if details.count(where: { $0.code == code }) < Limits.reportedFaults {
      details.append((code, text))
    } else {
      omitted[code, default: 0] += 1
    }
  }

  /// Warnings, one a code, in the order in which each was first met.
  var checks: [Check] {
    var codes: [Code] = []
    for code in details.map(\.code) where !codes.contains(code) { codes.append(code) }
    return codes.compactMap { code in
      var texts = details.filter { $0.code == code }.map(\.text)
      if let count = omitted[code] { texts.append("and \(count) more") }
      return texts.isEmpty ? nil : Check(code, .warning, detail: texts.joined(separator: "; "))
    }
  }
}
