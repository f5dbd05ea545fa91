import CBOR
import Cryptography

/// How the mock authority issues, where nothing else is said.
package struct MockIssuing: Sendable {
  /// SHA-256, SHA-384 or SHA-512.
  package var digestAlgorithm = HashAlgorithm.sha256
  /// Seconds since `signed` and `validFrom`, and until `validUntil`.
  package var age: Int64 = Seconds.day
  package var remainingLifetime: Int64 = 30 * Seconds.day
  /// KeyAuthorizations and Status of the mobile security object (ISO/IEC 18013-5, 9.1.2.4; second edition, 12.3.6), as
  /// they are to stand there.
  package var keyAuthorizations: CBORValue?
  package var status: CBORValue?

  package init() {}
}
