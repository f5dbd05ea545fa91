import Base
import Cryptography
import Mdoc
import Presentation
import Testing

@testable import Mock

/// A simulator's elements are shown only in test mode, beside the rejection.
@Suite struct SimulatedAnswerTests {
  let setup: MockSetup

  init() throws { setup = try MockSetup() }

  @Test func isShownInTestModeAlone() throws {
    for name in ["apple-simulator-key", "apple-simulator", "apple-profile", "apple-profile-empty-signature"] {
      let variant = try #require(MockVariant.named(name))
      let answer = try setup.answerApple(variant)
      #expect(try verify(answer, .simulate).simulated?.documents.first?.elements.isEmpty == false)
      #expect(try verify(answer, .refuse).simulated == nil)
      #expect(try verify(answer, .warn).simulated == nil)
    }
  }

  @Test func isNeverAnAcceptance() throws {
    for variant in MockVariant.all where variant.applicability == .appleInApp {
      let verdict = try verify(setup.answerApple(variant), .simulate)
      if verdict.simulated != nil {
        #expect(!Set(verdict.codes).isDisjoint(with: [.appleSimulatorAnswer, .appleProfileAnswer]))
      }
      if case .accepted = verdict.outcome { #expect(verdict.simulated == nil) }
      if variant.codes == [.appleSimulatorAnswer] { #expect(verdict.codes.contains(.appleSimulatorAnswer)) }
    }
  }

  /// A real document with blanked signatures still contains its issuer's certificate.
  @Test func isNotShownWhereItClaimsAnIssuer() throws {
    let blanked = MockVariant(
      "blanked", "",
      MockMutation(Stages.issuerAuthParts) { $0.signature = .zeros($0.signature.count) }
        + MockMutation(Stages.deviceSignatureParts) { $0.signature = .zeros($0.signature.count) })
    let verdict = try verify(setup.answerApple(blanked), .simulate)
    #expect(verdict.codes == [.appleSimulatorAnswer])
    #expect(verdict.simulated == nil)
  }

  @Test(arguments: ["apple-simulator-key", "apple-profile"])
  func answersAgesToo(name: String) throws {
    let request = MockRequest(documents: [.init(docType: DocType.mDL, elements: [], ageOver: [21])])
    let answer = try setup.answerApple(try #require(MockVariant.named(name)), request: request)
    let verdict = try setup.verifyApple(answer, request: request, publishedKey: .simulate)
    guard case .refused = verdict.outcome else {
      Issue.record("accepted")
      return
    }
    let document = try #require(verdict.simulated?.documents.first)
    #expect(document.elements.isEmpty)
    #expect(document.ageAnswers.map(\.threshold) == [21] && document.ageAnswers.allSatisfy(\.answer))
  }

  @Test func showsNoValuesWhenDescribed() throws {
    let answer = try setup.answerApple(try #require(MockVariant.named("apple-simulator-key")))
    let verdict = try verify(answer, .simulate)
    #expect(verdict.simulated != nil)
    var text = ""
    dump(verdict, to: &text)
    text += String(describing: verdict) + String(reflecting: verdict)
    #expect(SecrecyTests.revealed(in: text) == [])
  }

  private func verify(_ answer: [UInt8], _ policy: AppleInApp.PublishedKeyPolicy) throws -> Verdict {
    try setup.verifyApple(answer, publishedKey: policy)
  }
}
