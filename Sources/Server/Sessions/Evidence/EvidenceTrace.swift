import Base
import Cryptography

/// Looks for a bundle's entry in an exported audit log, which is verified on the way: whoever has an evidence key can
/// seal what never was, but not write it into the log.
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
    // Almost no line has it, and reading one takes longer than looking through it.
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
