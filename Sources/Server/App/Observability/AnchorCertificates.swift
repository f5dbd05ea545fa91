import Base
import Mdoc
import PKIX

/// What is wrong with the certificates of anchors, as `mdoc trust check` has it.
enum AnchorCertificates {
  /// One line for each anchor with a fault, and one more where there is none that is valid.
  static func warnings(of anchors: [TrustAnchor], at now: Timestamp) -> [String] {
    let lines = anchors.compactMap { anchor -> String? in
      let role: CertificateRole = anchor.kind == .authority ? .iaca : .documentSigner
      let failed = CertificateProfile.check(anchor.certificate, as: role, at: now)
        .filter { $0.outcome == .failed && !anchor.relaxed.contains($0.code) }
      guard let first = failed.first else { return nil }
      let detail = first.detail ?? first.code.entry.summary
      return "\(anchor.source): \(first.code.rawValue): \(detail); mdoc trust check has the rest"
    }
    let isAnyValid = anchors.isEmpty || anchors.contains { $0.certificate.validity.contains(now) }
    return lines + (isAnyValid ? [] : ["no trust anchor is valid now: every document would be refused"])
  }

  /// One line for each authority whose own certificate names revocation lists and none that may be asked for: under
  /// `require_good` its documents are refused where their signers name the same.
  static func crlWarnings(of anchors: [TrustAnchor]) -> [String] {
    anchors.compactMap { anchor in
      guard let first = anchor.unusableCRLs.first else { return nil }
      let address = first.address.map { "\($0): " } ?? ""
      return "\(anchor.source): \(Code.revocationSourceNotAllowed.rawValue): the revocation list of "
        + "\(anchor.certificate.subject.text) will not be asked for: \(address)\(first.reason)"
    }
  }
}
