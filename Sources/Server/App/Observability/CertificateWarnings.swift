import Base
import Mdoc
import PKIX
import Presentation
import Sessions

/// How long the relying parties' own certificates of one kind still hold. An expired reader's signs no request, and for an
/// expired merchant's Apple serves no app; only their owners can renew them.
struct PartyCertificates: Sendable {
  enum Kind: String, CaseIterable {
    case reader, merchant
  }

  /// Seconds before its end from which a certificate counts as expiring.
  static let notice: Int64 = 30 * 86_400

  /// All of the kind.
  let count: Int
  /// Those that are not valid now, or whose chain is not. Which they are says the log of the start, not this: anyone may
  /// ask.
  let expired: Int
  /// Those that are valid, but not for long.
  let expiring: Int
  /// When the first of the valid ones ends.
  let nextExpiry: Timestamp?

  init(_ kind: Kind, of parties: RelyingParties, at now: Timestamp) {
    let all = parties.all.flatMap { Self.certificates(kind, of: $0) }
    let ends = all.compactMap { $0.validity.flatMap { $0.contains(now) ? $0.upperBound : nil } }
    count = all.count
    expired = all.count - ends.count
    expiring = ends.count { $0 < now + Self.notice }
    nextExpiry = ends.min()
  }

  var json: JSON {
    [
      "count": .integer(Int64(count)), "expired": .integer(Int64(expired)), "expiring": .integer(Int64(expiring)),
    ]
  }

  /// For the log of the start.
  static func warnings(of parties: RelyingParties, at now: Timestamp) -> [String] {
    parties.all.flatMap { party in
      Kind.allCases.flatMap { kind in
        certificates(kind, of: party).compactMap { certificate -> String? in
          let name = "relying party \"\(party.id)\": the \(kind.rawValue) certificate \(certificate.fingerprint)"
          let chain = kind == .reader ? " or its chain" : ""
          guard let validity = certificate.validity, validity.contains(now) else {
            return "\(name)\(chain) is expired or not yet valid; \(kind.consequence)"
          }
          return validity.upperBound < now + notice ? "\(name)\(chain) expires at \(validity.upperBound)" : nil
        }
      }
    }
  }

  private static func certificates(
    _ kind: Kind, of party: RelyingParty
  ) -> [(fingerprint: String, validity: ClosedRange<Timestamp>?)] {
    switch kind {
    case .reader: party.readers.map { ($0.leaf.fingerprint, $0.validity) }
    // Keys of before a renewal are kept for answers under way: their certificates may end.
    case .merchant:
      party.apple.compactMap { merchant in
        merchant.certificates.map(\.certificate).max { $0.validity.upperBound < $1.validity.upperBound }
      }.map { ($0.fingerprint, $0.validity) }
    }
  }
}

extension PartyCertificates.Kind {
  fileprivate var consequence: String {
    switch self {
    case .reader: "signed requests are not made with it"
    case .merchant: "Apple answers no app in this merchant's name; have it renewed"
    }
  }
}

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
