import Base
import PKIX

/// ValidityInfo against the clock and the signer's certificate (ISO/IEC 18013-5:2021, 9.1.2.4 and 9.3.1). Both ends
/// are inclusive.
struct ValidityCheck {
  let mso: MobileSecurityObject
  let signer: Certificate
  let now: Timestamp
  let skew: Int64

  func run(into checks: inout CheckList) {
    let validity = mso.validity
    checks.require(
      validity.signed <= validity.validFrom && validity.validFrom < validity.validUntil, .validityInconsistent)
    checks.require(validity.signed <= now + skew, .signedInFuture)
    checks.require(signer.validity.contains(validity.signed), .signedOutsideCertificate)
    checks.require(validity.validFrom <= now + skew, .notYetValid)
    checks.require(now - skew <= validity.validUntil, .expired)
    checks.expect(validity.validUntil <= signer.validity.upperBound, .validityExceedsCertificate)
  }

  /// Notes every check of this stage that was not made.
  static func skip(_ checks: inout CheckList) {
    checks.skipRest(of: codes)
  }

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] = [
    .validityInconsistent, .signedInFuture, .signedOutsideCertificate, .notYetValid, .expired,
    .validityExceedsCertificate,
  ]
}
