import Base
import Cryptography

/// The known failures of a verifier: a file with one id on each line, and a reason after `#`. The run fails on an
/// unlisted failure or on a listed case that passes. A public file may instead contain a digest of the list,
/// `sha256:…`, until the verifier's maintainers know of the failures.
package struct ExpectedFailures: Sendable, Hashable {
  /// Reasons by id. The text is empty if no reason is given.
  package var reasons: [String: String] = [:]
  /// SHA-256, in hexadecimal, over the sorted ids with a line feed after each; nil if the ids are listed.
  package private(set) var digest: String?

  package init(reasons: [String: String] = [:]) { self.reasons = reasons }

  package init(parsing text: String, path: String) throws(SuiteError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
      guard let id = parts.first, !id.isEmpty else { continue }
      if id.hasPrefix("sha256:"), digest == nil, Hex.decode(id.dropFirst(7))?.count == 32 {
        digest = String(id.dropFirst(7))
        continue
      }
      guard !id.contains(" ") else { throw SuiteError(path: path, problem: "line \(index + 1) must be a single id") }
      guard reasons[id] == nil else { throw SuiteError(path: path, problem: "line \(index + 1) repeats \(id)") }
      reasons[id] = parts.count > 1 ? parts[1] : ""
    }
    guard digest == nil || reasons.isEmpty else { throw SuiteError(path: path, problem: "has both a digest and ids") }
  }

  /// True if the digest matches a run's failures. Without a digest, always true: `holding` then reports each
  /// difference.
  package func fits(_ report: RunReport) -> Bool {
    let ids = report.failures.map { $0.summary.id + "\n" }.sorted().joined()
    return digest.map { $0 == Hex.encode(HashAlgorithm.sha256.hash(Array(ids.utf8))) } ?? true
  }

  /// The failures of a run.
  package init(of report: RunReport) {
    for failure in report.failures { reasons[failure.summary.id] = failure.problem ?? "" }
  }

  package var fileContent: [UInt8] {
    let lines = reasons.sorted { $0.key < $1.key }.map { id, reason in
      reason.isEmpty ? id : "\(id)  # \(reason.replacing("\n", with: " "))"
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// The listed ids that no case of the suite has, sorted.
  package func unknown(in suite: VectorSuite) -> [String] {
    Set(reasons.keys).subtracting(suite.entries.map(\.vector.id)).sorted()
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

extension RunReport {
  /// A copy of the report in which expected failures do not count. A listed case that passes counts as a failure.
  package func holding(to expected: ExpectedFailures) -> RunReport {
    var report = self
    guard expected.fits(self) else { return self }
    report.results = results.map { result in
      let isListed = expected.digest == nil ? expected.reasons[result.summary.id] != nil : result.problem != nil
      guard isListed else { return result }
      var result = result
      switch result.outcome {
      case .passed: result.outcome = .failed("passes, but is listed as a failure; remove it from the list")
      case .failed(let problem): result.outcome = .knownFailure(problem)
      case .skipped, .knownFailure: break
      }
      return result
    }
    return report
  }
}
