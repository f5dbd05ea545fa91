import Base
import CBOR
import Cryptography
import Testing

@testable import Mock

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

  @Test func summariesAreSentences() {
    for variant in MockVariant.all {
      #expect(!variant.summary.isEmpty && variant.summary.hasSuffix("."), "\(variant.name)")
    }
  }

  /// The rows of the list of negative cases that a wallet's response can express.
  @Test func everyRowHasAVariant() {
    let covered = Set(MockVariant.all.flatMap(\.cases))
    let rows =
      rows("C", 1...12) + rows("P", 1...2) + rows("A", 1...16) + rows("I", 1...23) + rows("E", 1...31)
      + rows("K", 1...16) + rows("T", 2...26) + rows("D", 1...17)
    // Too many age requests, a mock root in live mode and a caller's statements are not properties of a response.
    for row in rows where !["E26", "T25", "D02"].contains(row) { #expect(covered.contains(row), "\(row)") }
  }

  /// Those that apply to in-app responses, to responses in person and to responses with a MAC, for a request of one
  /// document type.
  private static let inApp = MockVariant.all.filter { $0.holds(over: "apple-in-app") && !$0.needsTwoTypes }
  private static let proximity = MockVariant.all.filter { $0.holds(over: "") && !$0.needsTwoTypes }
  private static let byMAC = MockVariant.all.filter { $0.holds(over: "", usesMAC: true) && !$0.needsTwoTypes }

  /// The standard request is that of `everyVariantIsAppliedOrRefused`.
  @Test(arguments: [MockRequest.ageOnly, .withExpiryDate, .anyOf])
  func everyVariantAnswersEveryRequest(_ request: MockRequest) throws {
    let fixture = try Fixture()
    for variant in Self.proximity {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.response(variant, request) }
    }
  }

  @Test func everyVariantAnswersForAPhotoID() throws {
    let fixture = try Fixture()
    let request = MockRequest(documents: [.standardPhotoID])
    for variant in Self.inApp {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.apple(variant, request) }
    }
  }

  private static let curves = [Curve.p521, .brainpoolP320r1, .ed25519]

  /// Each variant on one of the curves: some are slow without optimisation.
  @Test(arguments: curves.indices)
  func everyVariantAnswersOnOtherCurves(_ index: Int) throws {
    let curve = Self.curves[index]
    let fixture = try Fixture(issuerCurve: curve, deviceCurve: curve)
    func isHere(_ position: Int) -> Bool { position % Self.curves.count == index }
    for (position, variant) in Self.inApp.enumerated() where isHere(position) {
      #expect(throws: Never.self, "\(variant.name)") { try fixture.apple(variant) }
    }
    guard curve.family == .weierstrass else { return }
    for (position, variant) in Self.byMAC.enumerated() where isHere(position) {
      #expect(throws: Never.self, "\(variant.name)") {
        try fixture.response(variant, .standard, .mac(readerKey: fixture.reader.publicKey))
      }
    }
  }

  /// No variant silently has no effect: a wrong response differs from the right one, and an inapplicable variant is
  /// refused with the reason.
  @Test(arguments: AnswerWay.all)
  func everyVariantIsAppliedOrRefused(_ way: AnswerWay) throws {
    let fixture = try WebFixture()
    let good = try fixture.bytes(way, .good)
    // Here the correct response equals the variant: its keys are on P-256, and the device signs if it sends no MAC.
    let same: Set = way.usesMAC ? ["good", "issuer-p256"] : ["good", "issuer-p256", "device-p256"]
    for variant in MockVariant.all + MockPublishedList.chosen.map(\.variant) {
      let request = variant.needsTwoTypes ? variant.request : .standard
      if variant.holds(over: way.protocolName, isEncrypted: way.isEncrypted, usesMAC: way.usesMAC) {
        let made = try fixture.bytes(way, variant, request)
        // Each session in person has its own keys, so no two responses are equal there.
        let isRight = way.protocolName != "iso-18013-5-proximity" && same.contains(variant.name)
        #expect((made == good) == (isRight || variant.name == "good"), "\(variant.name)")
      } else {
        let error = #expect(throws: MockError.self, "\(variant.name)") { try fixture.bytes(way, variant, request) }
        #expect(error?.description.contains("\(variant.name) is for ") == true, "\(variant.name)")
      }
    }
  }

  /// A request may lack the part that a variant changes: a wrong response that equals the right one is refused.
  @Test func aVariantThatChangesNothingIsRefused() throws {
    let fixture = try Fixture()
    let other = try #require(MockVariant.named("document-errors-other-requested"))
    #expect(throws: MockError.nothingToChange("only one type of document is requested")) {
      try fixture.response(other)
    }
    let idle = MockVariant(
      "idle", "Says that it is wrong, and changes nothing.", codes: [Code(named: "mdoc.digest.mismatch")])
    for way in AnswerWay.all {
      #expect(throws: MockError.nothingToChange("idle does not change the response to this request")) {
        try WebFixture().bytes(way, idle)
      }
    }
  }

  /// The project's own reader finds malformed CBOR, with the code that the variant names.
  @Test func framingVariantsBreakTheirOneRule() throws {
    let fixture = try Fixture()
    for variant in MockVariant.all where variant.name.hasPrefix("cbor-") {
      guard let code = variant.codes.first else { continue }
      // These are found only when the MSO or the header is read, or if a tag is in the way.
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

extension MockVariant {
  /// Whether its request is for one of several types, without which there is nothing to change.
  fileprivate var needsTwoTypes: Bool { request.documents.count > 1 }
}

/// Every way in which the mock wallet makes a response.
struct AnswerWay: Sendable, CustomTestStringConvertible {
  var protocolName: String
  var isEncrypted = true
  var usesMAC = false

  var testDescription: String { protocolName + (isEncrypted ? "" : " in clear") + (usesMAC ? " with MACs" : "") }

  /// `response` is a DeviceResponse over a transcript of no protocol.
  static let all =
    WebFixture.Way.all.map { AnswerWay(protocolName: $0.protocolName, isEncrypted: $0.isEncrypted) } + [
      AnswerWay(protocolName: "openid4vp-v1-signed", usesMAC: true),
      AnswerWay(protocolName: "openid4vp", usesMAC: true),
      AnswerWay(protocolName: "apple-in-app"), AnswerWay(protocolName: "iso-18013-5-proximity"),
      AnswerWay(protocolName: "response"), AnswerWay(protocolName: "response", usesMAC: true),
    ]
}

extension WebFixture {
  /// The verifier's input, or the DeviceResponse in it if each response has its own keys.
  fileprivate func bytes(
    _ way: AnswerWay, _ variant: MockVariant, _ request: MockRequest = .standard
  ) throws -> [UInt8] {
    switch way.protocolName {
    case "apple-in-app": return try fixture.apple(variant, request).bytes
    case "response":
      return try fixture.response(
        variant, request, way.usesMAC ? .mac(readerKey: fixture.reader.publicKey) : .signature
      ).bytes
    case "iso-18013-5-proximity":
      let asked = try session.data(for: "org-iso-mdoc", request)["deviceRequest"]?.string ?? ""
      return try fixture.wallet.meet(
        readerAsking: Base64.decodeURLSafe(asked) ?? [], occasion: [], variant: variant, at: fixture.now
      ).response.deviceResponse
    default:
      let web = Way(protocolName: way.protocolName, isEncrypted: way.isEncrypted)
      return try answer(web, variant, request, authentication: way.usesMAC ? .mac : .signature).data.serialized()
    }
  }
}
