import Base
import Cryptography
import Mdoc
import Trust

/// What publishers said about revocation when an answer was verified, and what could not be found out.
///
/// A bundle is never believed when it says that a document is good: the lists are verified again, as they were at the
/// time. Lists cannot prove that nothing was known, so such a finding is kept as it was: it can only make a verdict
/// worse.
struct EvidenceRevocation: RevocationSource {
  /// By the place of the question among all of the answer's.
  private var unknown: [Int: Unknown] = [:]
  private var lists: [RevocationList] = []
  private let mode: ServerMode

  private struct Unknown: Sendable {
    let uncertainty: RevocationUncertainty
    let detail: String?
  }

  init(mode: ServerMode) { self.mode = mode }

  init(of questions: [RevocationQuestion], answeredBy evidence: RevocationEvidence, mode: ServerMode) {
    self.mode = mode
    for (place, question) in questions.enumerated() {
      guard case .undetermined(let uncertainty, let detail) = evidence.finding(for: question) else { continue }
      unknown[place] = Unknown(uncertainty: uncertainty, detail: detail)
    }
    for list in evidence.lists where !lists.contains(list) { lists.append(list) }
  }

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    var kept = StaticListFetcher()
    for list in lists { kept[list.address] = .success(FetchedList(bytes: list.bytes)) }
    // Test mode may fetch from hosts that the others may not. A kept list was fetched under the rules of its own mode, so
    // those apply here too.
    let checker = RevocationChecker(fetcher: kept, allowsLoopback: mode == .test)
    let open = questions.enumerated().filter { unknown[$0.offset] == nil }.map(\.element)
    let found = await checker.evidence(for: open, at: now)
    var evidence = RevocationEvidence()
    for (place, question) in questions.enumerated() {
      let stated = unknown[place].map { RevocationFinding.undetermined($0.uncertainty, detail: $0.detail) }
      evidence.note(stated ?? found.finding(for: question), for: question)
    }
    return evidence
  }

  // MARK: Keeping

  var json: JSON {
    [
      "lists": .array(
        lists.map { ["address": .string($0.address), "bytes": .string(Base64.encode($0.bytes))] }),
      "unknown": .array(
        unknown.sorted { $0.key < $1.key }.map { place, unknown in
          .members([
            "question": .integer(Int64(place)), "reason": .string(unknown.uncertainty.rawValue),
            "detail": unknown.detail.map { .string($0) },
          ])
        }),
    ]
  }

  /// Nil for what `json` did not give.
  init?(_ json: JSON, mode: ServerMode) {
    guard let lists = json["lists"]?.array, let unknown = json["unknown"]?.array else { return nil }
    self.mode = mode
    for list in lists {
      guard let address = list["address"]?.string, let bytes = list["bytes"]?.string.flatMap(Base64.decode) else {
        return nil
      }
      self.lists.append(RevocationList(address: address, bytes: bytes))
    }
    for entry in unknown {
      guard let place = entry["question"]?.integer.flatMap(Int.init(exactly:)),
        let reason = entry["reason"]?.string.flatMap(RevocationUncertainty.init)
      else { return nil }
      self.unknown[place] = Unknown(uncertainty: reason, detail: entry["detail"]?.string)
    }
  }
}

/// Looks for a bundle's entry in an exported audit log, and verifies the log on the way. Somebody who has an evidence
/// key can seal an invented bundle, but cannot write it into the log.
package struct EvidenceTrace: Sendable {
  private let session: String
  private let digest: String
  private var verification: AuditVerification
  private var isFound = false

  /// - Parameters:
  ///   - sealed: the bundle as the server gave it out.
  ///   - heads: of the log, noted earlier.
  package init(of bundle: EvidenceBundle, sealed: [UInt8], noted heads: [AuditHead] = []) {
    session = bundle.session.text
    digest = Hex.encode(HashAlgorithm.sha256.hash(sealed))
    verification = AuditVerification(noted: heads)
  }

  package mutating func read(_ line: [UInt8], at place: AuditPlace) {
    verification.read(line, at: place)
    // Searching a line's bytes is faster than parsing it, and almost no line has the digest.
    guard line.firstRange(of: Array(digest.utf8)) != nil, case .entry(let link) = AuditLine(parsing: line),
      let entry = try? JSON(parsing: link.entry)
    else { return }
    if entry["session"]?.string == session, entry["evidence"]?.string == digest { isFound = true }
  }

  package mutating func endFile(_ name: String) { verification.endFile(name) }

  /// Nil where the log verifies and has the bundle.
  package func fault() -> EvidenceFault? {
    if let finding = verification.verdict().findings.first {
      return EvidenceFault(.evidenceNotInAudit, "the audit log does not verify: \(finding.code.rawValue)")
    }
    return isFound ? nil : EvidenceFault(.evidenceNotInAudit)
  }
}
