import Base
import CBOR

extension MockVariant {
  /// Wrong dates (ISO/IEC 18013-5, 9.3.1), given in seconds from the time of the answer.
  @MockVariantList static var validity: [MockVariant] {
    dates(
      "mso-expired", "The MSO expired an hour ago.", "I15", [.expired], signed: -31 * Seconds.day,
      from: -31 * Seconds.day, until: -Seconds.hour)
    dates(
      "mso-not-yet-valid", "The MSO becomes valid in an hour.", "I16", [.notYetValid], signed: -Seconds.day,
      from: Seconds.hour, until: 30 * Seconds.day)
    dates(
      "mso-signed-in-future", "The MSO was signed, and becomes valid, in an hour.", "I17",
      [.signedInFuture, .notYetValid], signed: Seconds.hour, from: Seconds.hour, until: 30 * Seconds.day)
    dates(
      "mso-valid-before-signed", "The MSO was valid before it was signed.", "I18", [.validityInconsistent],
      signed: -Seconds.day, from: -2 * Seconds.day, until: 30 * Seconds.day)
    dates(
      "mso-until-equals-from", "The MSO's validity has no length.", "I19", [.validityInconsistent],
      signed: -Seconds.day, from: 0, until: 0)
    dates(
      "mso-until-before-from", "The MSO's validity ends before it begins, both within the allowed skew.", "I19",
      [.validityInconsistent], signed: -Seconds.day, from: 20, until: -20)
    MockVariant(
      "mso-signed-before-certificate", "The MSO was signed before its signer's certificate became valid.",
      cases: "I20 T06", codes: [.signedOutsideCertificate],
      .setup {
        $0.signer.certificate.notBefore = $0.now - 12 * Seconds.hour
        $0.setValidity(signed: -Seconds.day, from: -Seconds.day, until: 30 * Seconds.day)
      })
    MockVariant(
      "mso-signed-after-certificate", "The MSO was signed after its signer's certificate had expired.",
      cases: "I20 T06", codes: [.certificateExpired, .signedOutsideCertificate],
      warnings: [.validityExceedsCertificate],
      .setup {
        $0.signer.certificate.notAfter = $0.now - 2 * Seconds.day
        $0.setValidity(signed: -Seconds.day, from: -Seconds.day, until: 30 * Seconds.day)
      })
    MockVariant(
      "mso-exceeds-certificate", "The MSO is valid for longer than its signer's certificate.",
      warnings: [.validityExceedsCertificate],
      .setup { $0.validity.validUntil = .tdate($0.signer.certificate.notAfter + Seconds.day) })
    edge("skew-until-1", "The MSO expired one second ago.", [], until: -1)
    edge("skew-until-limit", "The MSO expired as long ago as clocks may differ.", [], until: -Limits.clockSkew)
    edge(
      "skew-until-over", "The MSO expired a second more ago than clocks may differ.", [.expired],
      until: -Limits.clockSkew - 1)
    edge("skew-from-1", "The MSO becomes valid in one second.", [], from: 1)
    edge("skew-from-limit", "The MSO becomes valid in as much time as clocks may differ.", [], from: Limits.clockSkew)
    edge(
      "skew-from-over", "The MSO becomes valid in a second more than clocks may differ.", [.notYetValid],
      from: Limits.clockSkew + 1)
  }

  private static func dates(
    _ name: String, _ summary: String, _ cases: String, _ codes: [Code], signed: Int64, from: Int64, until: Int64,
    needsFixedClock: Bool = false
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: cases, codes: codes, needsFixedClock: needsFixedClock,
      .setup { $0.setValidity(signed: signed, from: from, until: until) })
  }

  private static func edge(
    _ name: String, _ summary: String, _ codes: [Code], from: Int64 = -Seconds.day, until: Int64 = 30 * Seconds.day
  ) -> MockVariant {
    dates(name, summary, "I23", codes, signed: -Seconds.day, from: from, until: until, needsFixedClock: true)
  }
}
