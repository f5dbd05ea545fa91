import Base
import Mdoc
import PKIX
import Presentation
import Sessions
import Trust

/// Expiry figures for the relying parties' certificates of one kind. Only a certificate's owner can renew it.
struct PartyCertificates: Sendable {
  enum Kind: String, CaseIterable {
    case reader, merchant, registration
  }

  /// A certificate that expires within this many seconds counts as expiring.
  static let notice: Int64 = 30 * 86_400

  let count: Int
  /// The number of certificates that are invalid now or have an invalid chain. The number is public. Only the log
  /// identifies the certificates.
  let expired: Int
  let expiring: Int
  let nextExpiry: Timestamp?

  init(_ kind: Kind, of parties: RelyingParties, at now: Timestamp) {
    let all = parties.all.flatMap { Self.certificates(kind, of: $0) }
    let ends = all.compactMap { $0.validity.flatMap { $0.contains(now) ? $0.upperBound : nil } }
    count = all.count
    expired = all.count - ends.count
    expiring = ends.count { $0 < now + Self.notice }
    nextExpiry = ends.min()
  }

  static let shape = Shape<PartyCertificates>.open(
    "PartyCertificates", "Counts of the relying parties' certificates of one kind.",
    [
      .always("count", \.count, .count, "All certificates of this kind."),
      .always("expired", \.expired, .count, "Those that are not valid now."),
      .always("expiring", \.expiring, .count, "Certificates that expire, or whose chain expires, within 30 days."),
    ])

  /// One line for each certificate that is expired or expiring, for the log.
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

  /// One line for each registration certificate without a good status. Wallets check this status (ARF, topic 44).
  static func statusWarnings(
    of parties: RelyingParties, asking source: any RevocationSource, at now: Timestamp
  ) async -> [String] {
    let asked = parties.all.flatMap { party in
      party.registrations.compactMap { certificate in
        certificate.statusQuestion.map { (party: party.id, use: certificate.intendedUseID ?? "", question: $0) }
      }
    }
    guard !asked.isEmpty else { return [] }
    let evidence = await source.evidence(for: asked.map(\.question), at: now)
    return asked.compactMap { party, use, question in
      evidence.finding(for: question).code.map {
        "relying party \"\(party)\": the registration certificate \(use): \($0.rawValue)"
      }
    }
  }

  private static func certificates(
    _ kind: Kind, of party: RelyingParty
  ) -> [(fingerprint: String, validity: ClosedRange<Timestamp>?)] {
    switch kind {
    case .reader: party.readers.map { ($0.leaf.fingerprint, $0.validity) }
    // After a renewal, the previous key remains for pending responses. Only the certificate that expires last counts.
    case .merchant:
      party.apple.compactMap { merchant in
        merchant.certificates.map(\.certificate).max { $0.validity.upperBound < $1.validity.upperBound }
      }.map { ($0.fingerprint, $0.validity) }
    // A registration certificate without an expiry is checked only for its status.
    case .registration:
      party.registrations.compactMap { certificate in
        certificate.expiresAt.map { (certificate.intendedUseID ?? "", Timestamp(secondsSince1970: 0)...$0) }
      }
    }
  }
}

extension PartyCertificates.Kind {
  fileprivate var consequence: String {
    switch self {
    case .reader: "no request is signed with it; renew it"
    case .merchant: "Apple serves no app for this merchant; renew it"
    case .registration: "requests are sent without it, and wallets warn; renew it"
    }
  }
}

/// Checks the certificates of anchors, as `mdoc trust check` does.
enum AnchorCertificates {
  /// One line for each anchor with an error, and another line if no anchor is valid.
  static func warnings(of anchors: [TrustAnchor], at now: Timestamp) -> [String] {
    let lines = anchors.compactMap { anchor -> String? in
      let role: CertificateRole = anchor.kind == .authority ? .iaca : .documentSigner
      let failed = CertificateProfile.check(anchor.certificate, as: role, at: now)
        .filter { $0.outcome == .failed && !anchor.relaxed.contains($0.code) }
      guard let first = failed.first else { return nil }
      let detail = first.detail ?? first.code.entry.summary
      return "\(anchor.source): \(first.code.rawValue): \(detail); for details, run mdoc trust check"
    }
    let isAnyValid = anchors.isEmpty || anchors.contains { $0.certificate.validity.contains(now) }
    return lines + (isAnyValid ? [] : ["no trust anchor is valid now: every document is rejected"])
  }

  /// One line for each document type in `accepted_issuers` with an identifier that matches no anchor.
  static func unknownIssuers(of parties: RelyingParties, among anchors: [TrustAnchor]) -> [String] {
    parties.all.flatMap { party in
      party.acceptedIssuers.sorted { $0.key < $1.key }.compactMap { docType, identifiers -> String? in
        let known = Set(
          anchors.filter { $0.allows(docType) }.map(\.certificate.extensions).compactMap {
            $0.isCA ? $0.subjectKeyIdentifier : $0.authorityKeyIdentifier
          })
        let unknown = identifiers.filter { !known.contains($0) }
        guard let first = unknown.first else { return nil }
        return "relying party \"\(party.id)\": accepted_issuers of \(docType): \(unknown.count) of "
          + "\(identifiers.count) identifiers match no trust anchor, such as \(Hex.encode(first)): wallets hide "
          + "documents of issuers that are not listed"
      }
    }
  }

  /// One line for each anchor whose private key is public, and one for each authority with a revocation list that the
  /// server may not fetch.
  static func loadWarnings(of anchors: [TrustAnchor]) -> [String] {
    anchors.compactMap { anchor in
      anchor.certificate.testOrigin.map { "\(anchor.source): \(Code.testCertificate.rawValue): \($0)" }
    }
      + anchors.compactMap { anchor in
        guard let first = anchor.unusableCRLs.first else { return nil }
        let address = first.address.map { "\($0): " } ?? ""
        return "\(anchor.source): \(Code.revocationSourceNotAllowed.rawValue): the revocation list of "
          + "\(anchor.certificate.subject.text) will not be fetched: \(address)\(first.reason)"
      }
  }
}
