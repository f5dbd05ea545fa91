import Base
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
