import Base
import Mock
import Testing

@testable import Mdoc

/// The first failed check names a rejection, so the order of the checks is declared, and reports use the same order.
@Suite struct CheckOrderTests {
  /// The order of the steps, given by the first check of each; it does not follow from an enumeration.
  @Test func `steps come in the order of the architecture`() {
    let steps: [Code] = [
      .docTypeNotRequested, .issuerAuthMissing, .issuerCertificateMissing, .issuerUnknown,
      .issuerNotTrustedForDocType, .certificateExpired, .certificateIsCA, .certificateKeyUsage,
      .issuerAlgorithmUnsupported, .issuerSignatureInvalid, .msoMissing, .msoMalformed, .msoDocTypeMismatch,
      .elementDuplicate, .digestMissing, .digestMismatch, .expired, .issuerJurisdictionMismatch, .deviceKeyInvalid,
      .deviceElementUnauthorized, .deviceAuthMissing, .deviceSignatureInvalid, .signerRevoked, .documentRevoked,
      .elementTypeInvalid, .elementMissing, .ageContradictory, .ageBelowMinimum,
    ]
    let places = steps.map { MdocVerifier.documentChecks.firstIndex(of: $0) ?? -1 }
    #expect(!places.contains(-1) && places == places.sorted())
    let response: [Code] = [
      .responseVersionUnsupported, .responseStatusNotOK, .documentErrorsPresent, .documentsMissing,
      .documentUnexpected, .documentMissing, .nothingDisclosed,
    ]
    #expect(MdocVerifier.responseChecks.filter(response.contains) == response)
  }

  @Test func `each check is declared once`() {
    for declared in [MdocVerifier.responseChecks, MdocVerifier.documentChecks] {
      #expect(Set(declared).count == declared.count)
    }
  }

  @Test func `a report lists its checks in that order`() throws {
    let attack = try Attack()
    for variant in MockVariant.all
    where [.anyProtocol, .notAppleInApp, .withoutReaderKey].contains(variant.applicability)
      && variant.request.documents.count == 1
    {
      let wallet = MockWallet(authority: attack.authority, documents: MockPerson.documents)
      let answer = try wallet.answer(.standard, transcript: attack.transcript.encoded, variant: variant, at: attack.now)
      let report = attack.verify(answer.bytes, request: Attack.request).report
      // Unreadable bytes are reported where they are found, without checks of their content.
      #expect(isSorted(report.checks, as: MdocVerifier.responseChecks), "\(variant.name)")
      for document in report.documents {
        #expect(isSorted(document.checks, as: MdocVerifier.documentChecks), "\(variant.name)")
      }
    }
  }

  private func isSorted(_ checks: [Check], as declared: [Code]) -> Bool {
    // Malformed bytes have their fault as the only check.
    if checks.count == 1, checks[0].outcome == .failed { return true }
    // An undeclared check would be missing after an earlier failure; a CBOR fault would replace it.
    let isDeclared = checks.allSatisfy { declared.contains($0.code) || $0.code.rawValue.hasPrefix("cbor.") }
    guard isDeclared else { return false }
    let made = checks.filter { $0.outcome != .notRun }.compactMap { declared.firstIndex(of: $0.code) }
    return made == made.sorted()
  }
}

/// A rejection names the faulty member or item by the standard's names and by indices, and quotes no value.
@Suite struct FaultDetailTests {
  let attack: Attack

  init() throws { attack = try Attack() }

  static let details: [(variant: String, code: Code, detail: String)] = [
    ("item-without-random", .itemMalformed, "documents[0].issuerSigned.nameSpaces[0][#].random is missing"),
    (
      "item-identifier-bytes", .itemMalformed,
      "documents[0].issuerSigned.nameSpaces[0][#].elementIdentifier is not a text string"
    ),
    (
      "item-digestid-negative", .itemMalformed,
      "documents[0].issuerSigned.nameSpaces[0][#].digestID is not an unsigned integer"
    ),
    ("item-not-tag24-map", .itemNotTag24, "documents[0].issuerSigned.nameSpaces[0][#]: not a byte string with tag 24"),
    ("response-version-absent", .responseMalformed, "version is missing"),
    (
      "slip-device-name-spaces-null", .responseMalformed,
      "documents[0].deviceSigned.nameSpaces is not a byte string with tag 24"
    ),
    ("mso-version-integer", .msoMalformed, "version is not a text string"),
    ("mso-not-tag24", .msoMalformed, "the payload is not a byte string with tag 24"),
    ("mso-without-device-key-info", .msoMalformed, "deviceKeyInfo is missing"),
    ("mso-without-valid-until", .msoMalformed, "validityInfo.validUntil is missing"),
    ("mso-date-untagged", .msoMalformed, "validityInfo.validUntil is not a text string with tag 0"),
    ("mso-date-offset", .msoMalformed, "validityInfo.validUntil is not a UTC date and time of RFC 3339"),
    ("device-key-missing", .deviceKeyInvalid, "deviceKeyInfo has no deviceKey"),
    ("device-key-off-curve", .deviceKeyInvalid, "the device key is not a point on its curve, or has small order"),
    ("device-key-private", .deviceKeyInvalid, "the device key contains a private part (label -4)"),
    ("device-key-short", .deviceKeyInvalid, "the device key has 31 bytes of x (label -2), but its curve needs 32"),
    (
      "device-key-type", .deviceKeyInvalid,
      "the device key has a key type (label 1) that does not fit its curve (label -1)"
    ),
    (
      "device-key-algorithm-other", .deviceAlgorithmKeyMismatch,
      "the key is for ES384 (alg, label 3), but the signature says ES256"
    ),
    ("device-key-operations-other", .deviceAlgorithmKeyMismatch, "the key's key_ops (label 4) lacks verify"),
    ("slip-device-signature-tagged", .deviceAuthMalformed, "deviceSignature: it has tag 18, but must be untagged"),
    ("cbor-trailing-after-mso", .cborTrailingBytes, "in the payload that the issuer signed, at byte #"),
    ("zk-documents-alone", .zeroKnowledgeUnsupported, "1 zero-knowledge proofs"),
  ]

  @Test(arguments: details)
  func `a fault is named with its place`(variant: String, code: Code, detail: String) throws {
    let mutation = try #require(MockVariant.named(variant))
    let wallet = MockWallet(authority: attack.authority, documents: attack.documents)
    let answer = try wallet.answer(.standard, transcript: attack.transcript.encoded, variant: mutation, at: attack.now)
    let report = attack.verify(answer.bytes, request: Attack.request).report
    let checks = report.checks + report.documents.flatMap(\.checks)
    let found = try #require(checks.first { $0.code == code && $0.outcome == .failed }, "\(variant)")
    let place = (found.detail ?? "").replacing(/nameSpaces\[0\]\[[0-9]+\]/, with: "nameSpaces[0][#]")
      .replacing(/at byte [0-9]+/, with: "at byte #")
    #expect(place == detail, "\(variant)")
  }

  @Test func `every slip is named with its place`() throws {
    let mutation = try #require(MockVariant.named("slip-device-mac-undefined"))
    let wallet = MockWallet(authority: attack.authority, documents: attack.documents)
    let answer = try wallet.answer(.standard, transcript: attack.transcript.encoded, variant: mutation, at: attack.now)
    let check = attack.verify(answer.bytes, request: Attack.request).report.checks.first {
      $0.code == .responseDeviation
    }
    #expect(check?.detail == "documents[0].deviceSigned.deviceAuth.deviceMac is undefined")
  }
}
