import Base
import Mock
import Testing

@testable import Mdoc

/// The first failed check names a refusal, so that the order of the checks is declared, and is that of the reports.
@Suite struct CheckOrderTests {
  /// The order of the architecture, by the first check of each of its steps, which no enumeration's order decides.
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
    where [.anyProtocol, .notAppleInApp, .withoutReaderKey].contains(variant.applicability) {
      let wallet = MockWallet(authority: attack.authority, documents: MockPerson.documents)
      let answer = try wallet.answer(.standard, transcript: attack.transcript.encoded, variant: variant, at: attack.now)
      let report = attack.verify(answer.bytes, request: Attack.request).report
      // Unreadable bytes are named where they are met, and nothing is listed of what they hide.
      #expect(isSorted(report.checks, as: MdocVerifier.responseChecks), "\(variant.name)")
      for document in report.documents {
        #expect(isSorted(document.checks, as: MdocVerifier.documentChecks), "\(variant.name)")
      }
    }
  }

  private func isSorted(_ checks: [Check], as declared: [Code]) -> Bool {
    // What cannot be read has its fault as the one check.
    if checks.count == 1, checks[0].outcome == .failed { return true }
    // A check that is not declared would be missing where an earlier one fails; a fault of CBOR stands in its place.
    let isDeclared = checks.allSatisfy { declared.contains($0.code) || $0.code.rawValue.hasPrefix("cbor.") }
    guard isDeclared else { return false }
    let made = checks.filter { $0.outcome != .notRun }.compactMap { declared.firstIndex(of: $0.code) }
    return made == made.sorted()
  }
}
