import Base
import CBOR
import Cryptography
import Mock
import Testing

@Suite struct VariantTests {
  @Test func namesAreUniqueAndPlain() {
    let names = MockVariant.all.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-.".utf8.contains($0) }, "\(name)")
      #expect(MockVariant.named(name)?.name == name)
    }
    #expect(MockVariant.all.first?.name == "good")
  }

  @Test func codesComeInTheOrderOfTheChecks() {
    for variant in MockVariant.all {
      let positions = variant.codes.compactMap(Code.allCases.firstIndex)
      // A proof's elements are checked before much that comes earlier elsewhere.
      if variant.applicability != .zeroKnowledge { #expect(positions == positions.sorted(), "\(variant.name)") }
      #expect(variant.codes.allSatisfy { !$0.entry.isWarning }, "\(variant.name)")
      #expect(variant.warnings.allSatisfy { $0.entry.isWarning }, "\(variant.name)")
      #expect(!variant.summary.isEmpty && variant.summary.hasSuffix("."), "\(variant.name)")
    }
  }

  /// The rows of the list of negative cases that a wallet's answer can express.
  @Test func everyRowHasAVariant() {
    let covered = Set(MockVariant.all.flatMap(\.cases))
    let rows =
      rows("C", 1...12) + rows("P", 1...2) + rows("A", 1...16) + rows("I", 1...23) + rows("E", 1...31)
      + rows("K", 1...16) + rows("T", 2...26) + rows("D", 1...17)
    // Too many age requests, a mock root in live mode and what a caller says are no properties of an answer.
    for row in rows where !["E26", "T25", "D02"].contains(row) { #expect(covered.contains(row), "\(row)") }
  }

  /// Those that need no proof.
  private static let plain = MockVariant.all.filter { $0.applicability != .zeroKnowledge }

  /// A wallet that proves nothing has nothing to change in a proof.
  @Test func aVariantOfAProofNeedsOne() throws {
    let fixture = try Fixture()
    for variant in MockVariant.all where variant.applicability == .zeroKnowledge {
      // This one only changes the document's data.
      if variant.name == "zk-age-denied" { continue }
      #expect(throws: MockError.self, "\(variant.name)") { try fixture.response(variant, variant.request) }
    }
  }

  @Test(arguments: [MockRequest.standard, .ageOnly, .withExpiryDate, .anyOf])
  func everyVariantAnswersEveryRequest(_ request: MockRequest) throws {
    let fixture = try Fixture()
    for variant in Self.plain {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.response(variant, request) }
    }
  }

  @Test func everyVariantAnswersForAPhotoID() throws {
    let fixture = try Fixture()
    let request = MockRequest(documents: [.standardPhotoID])
    for variant in Self.plain {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.apple(variant, request) }
    }
  }

  @Test(arguments: [Curve.p521, .brainpoolP320r1, .ed25519])
  func everyVariantAnswersOnEveryCurve(_ curve: Curve) throws {
    let fixture = try Fixture(issuerCurve: curve, deviceCurve: curve)
    for variant in Self.plain {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.apple(variant) }
      if curve.family == .weierstrass {
        #expect(throws: Never.self, "\(variant.name)") {
          try fixture.response(variant, .standard, .mac(readerKey: fixture.reader.publicKey))
        }
      }
    }
  }

  @Test func everyVariantDiffersFromTheGoodAnswer() throws {
    let fixture = try Fixture()
    let good = try fixture.apple().bytes
    // On these the good answer is as the variant says: its keys are on P-256, and it was asked for one type.
    let same: Set = ["good", "issuer-p256", "device-p256", "document-errors-other-requested"]
    for variant in MockVariant.all where variant.holds(over: "apple-in-app") || variant.applicability == .notAppleInApp
    {
      let bytes = try fixture.apple(variant).bytes
      #expect((bytes == good) == same.contains(variant.name), "\(variant.name)")
    }
  }

  /// What breaks the CBOR is found by the project's own reader, under the code that the variant names.
  @Test func framingVariantsBreakTheirOneRule() throws {
    let fixture = try Fixture()
    for variant in MockVariant.all where variant.name.hasPrefix("cbor-") {
      guard let code = variant.codes.first else { continue }
      // These are only found where the MSO or the header is read, or where a tag stands in the way.
      let elsewhere: [Substring] = ["mso", "payload", "protected", "reference", "namespace"]
      if elsewhere.contains(where: variant.name.split(separator: "-").contains) { continue }
      let bytes = try fixture.response(variant).bytes
      #expect(throws: CBORError.self, "\(variant.name)") { try CBORItem(parsing: bytes) }
      do { _ = try CBORItem(parsing: bytes) } catch { #expect(error.code == code, "\(variant.name)") }
    }
  }

  private func rows(_ letter: String, _ numbers: ClosedRange<Int>) -> [String] {
    numbers.map { "\(letter)\($0 < 10 ? "0" : "")\($0)" }
  }
}
