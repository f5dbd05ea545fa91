import Base
import CBOR
import Cryptography

// What is wrong with the list itself.

extension MockVICAL {
  static let headers = [
    MockVICAL(
      "vical-algorithm-unprotected", "The algorithm is in the unprotected header.", cases: "V01",
      .listAlgorithmUnsupported
    ) {
      $0.changeMessage = {
        $0.unprotected[1] = $0.protected[1]
        $0.protected = MapDraft()
      }
    },
    MockVICAL(
      "vical-algorithm-of-another-key", "The algorithm is that of another curve.", cases: "V01",
      .listAlgorithmUnsupported
    ) {
      let identifier = COSEAlgorithm.signature(for: $0.authority.issuerCurve == .p384 ? .p256 : .p384)
      $0.changeMessage = { $0.protected[1] = .integer(identifier) }
    },
    MockVICAL(
      "vical-algorithm-unknown", "The algorithm is none that the standard has.", cases: "V01",
      .listAlgorithmUnsupported
    ) { $0.changeMessage = { $0.protected[1] = .integer(-65_535) } },
    MockVICAL("vical-critical", "A header parameter that nobody knows is critical.", .listCriticalExtension) {
      $0.changeMessage = {
        $0.protected[2] = ["org.example"]
        $0.protected["org.example"] = true
      }
    },
  ]

  static let structures = [
    malformed("vical-trailing-byte", "A byte follows it.") { $0.changeBytes = { $0 + [0x00] } },
    malformed("vical-truncated", "Its last byte is missing.") { $0.changeBytes = { $0.dropLast() } },
    malformed("vical-tagged", "It is tagged as COSE_Sign1.") { $0.changeBytes = { [0xd2] + $0 } },
    malformed("vical-detached", "The payload is detached.") { $0.changeMessage = { $0.presentedPayload = .null } },
    malformed("vical-embedded", "The payload is inside tag 24.") {
      $0.changePayload = { CBORValue.tagged(24, .bytes($0)).encoded() }
    },
    malformed("vical-payload-trailing-byte", "A byte follows the list inside the payload.") {
      $0.changePayload = { $0 + [0x00] }
    },
    malformed("vical-duplicate-member", "Its date stands twice.") { $0.list.duplicate("date") },
    malformed("vical-without-version", "It has no version.") { $0.list["version"] = nil },
    malformed("vical-without-provider", "It does not name its provider.") { $0.list["vicalProvider"] = nil },
    malformed("vical-without-date", "It has no date.") { $0.list["date"] = nil },
    malformed("vical-date-without-tag", "Its date is text alone.") {
      $0.list["date"] = .text($0.now.description)
    },
    malformed("vical-number-of-text", "Its number is text.") { $0.list["vicalIssueID"] = "1" },
    MockVICAL("vical-version-2", "It is of version 2.0.", .listVersionUnsupported) { $0.list["version"] = "2.0" },
    MockVICAL("vical-too-large", "It is larger than any verifier here takes.", .listTooLarge) {
      $0.list["org.example"] = .bytes([UInt8](repeating: 0, count: Limits.listBytes))
    },
    MockVICAL("vical-too-many-items", "It has more items than any verifier here takes.", .listTooLarge) {
      $0.list["org.example"] = .array([CBORValue](repeating: 0, count: Limits.cborItems))
    },
  ]

  static let times = [
    MockVICAL("vical-future", "It is dated in the future, beyond any clock's error.", .listIssuedInFuture) {
      $0.list["date"] = .time($0.now + Limits.clockSkew + 1)
      $0.list["nextUpdate"] = .time($0.now + 2 * Seconds.day)
    },
    MockVICAL("vical-expired", "The next update was due a second ago.", cases: "V03", .listExpired) {
      $0.list["date"] = .time($0.now - Seconds.day)
      $0.list["nextUpdate"] = .time($0.now - 1)
    },
    MockVICAL("vical-ended", "It was to be used until a second ago.", cases: "V03", .listExpired) {
      $0.list["date"] = .time($0.now - Seconds.day)
      $0.list["notAfter"] = .time($0.now - 1)
    },
    MockVICAL("vical-older", "It is a second older than the good one.", cases: "V02", .listRollback, followsGood: true)
    {
      $0.list["date"] = .time(Timestamp(date: $0.now.date) - 1)
    },
    MockVICAL(
      "vical-older-number", "It is of the good one's time, under a lower number.", cases: "V02", .listRollback,
      followsGood: true
    ) { $0.list["vicalIssueID"] = 1 },
  ]

  private static func malformed(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout VICALDraft) throws -> Void
  ) -> MockVICAL {
    MockVICAL(name, summary, .listMalformed, change)
  }
}
