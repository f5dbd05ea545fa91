import Primitives
import VerificationService

/// How long the certificates of the relying parties' readers still hold: an expired one stops signed requests, and
/// only its owner can renew it.
struct ReaderCertificates: Sendable {
  /// Seconds before its end from which a certificate counts as expiring.
  static let notice: Int64 = 30 * 86_400

  /// All readers.
  let count: Int
  /// Those whose chain is not valid now. Which they are says the log of the start, not this: anyone may ask.
  let expired: Int
  /// Those that are valid, but not for long.
  let expiring: Int
  /// When the first of the valid ones ends.
  let nextExpiry: Timestamp?

  init(of parties: RelyingParties, at now: Timestamp) {
    let readers = parties.all.flatMap(\.readers)
    let ends = readers.compactMap { $0.validity.flatMap { $0.contains(now) ? $0.upperBound : nil } }
    count = readers.count
    expired = readers.count - ends.count
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
