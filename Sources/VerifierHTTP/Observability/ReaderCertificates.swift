import Primitives
import VerificationService

/// How long the certificates of the relying parties' readers still hold: an expired one stops signed requests, and
/// only its owner can renew it.
struct ReaderCertificates: Sendable {
  /// Seconds before its end from which a certificate counts as expiring.
  static let notice: Int64 = 30 * 86_400

  /// All readers.
  let count: Int
  /// SHA-256 of the leaves whose chain is not valid now.
  let expired: [String]
  /// Those that are valid, but not for long.
  let expiring: [String]
  /// When the first of the valid ones ends.
  let nextExpiry: Timestamp?

  init(of parties: RelyingParties, at now: Timestamp) {
    let readers = parties.all.flatMap(\.readers)
    let valid = readers.compactMap { reader in
      reader.validity.flatMap { $0.contains(now) ? (reader.leaf.fingerprint, $0.upperBound) : nil }
    }
    count = readers.count
    expired = readers.filter { $0.validity?.contains(now) != true }.map(\.leaf.fingerprint)
    expiring = valid.filter { $0.1 < now + Self.notice }.map(\.0)
    nextExpiry = valid.map(\.1).min()
  }

  var json: JSON {
    [
      "count": .integer(Int64(count)), "expired": .array(expired.map { .string($0) }),
      "expiring": .array(expiring.map { .string($0) }),
    ]
  }

  /// For the log of the start.
  static func warnings(of parties: RelyingParties, at now: Timestamp) -> [String] {
    parties.all.flatMap { party in
      party.readers.compactMap { reader -> String? in
        let name = "relying party \"\(party.id)\": the reader certificate \(reader.leaf.fingerprint)"
        guard let validity = reader.validity, validity.contains(now) else {
          return "\(name) or its chain is expired or not yet valid; signed requests are not made with it"
        }
        return validity.upperBound < now + notice ? "\(name) or its chain expires at \(validity.upperBound)" : nil
      }
    }
  }
}
