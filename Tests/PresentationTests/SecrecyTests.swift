import Base
import CBOR
import Mdoc
import TestSupport
import Testing

@testable import Mock

/// Nothing that could be logged by accident shows a person's data, and a rejection contains none of it.
@Suite struct SecrecyTests {
  /// Values of the mock person that occur nowhere else, such as in names of elements, certificates or types.
  static let values = [
    "Morgan", "Ada", "1990-04-12", "1990", "Mock Driver License", "M18013505", "52 Example", "Salt Lake", "84101",
    "green", "brown", "168",
  ]

  let setup: MockSetup
  let everything: MockRequest

  init() throws {
    setup = try MockSetup()
    everything = MockRequest(documents: [
      .init(
        docType: MockDocType.mDL,
        elements: MockPerson.mDL.namespaces.flatMap { space in space.elements.map { (space.name, $0.identifier) } })
    ])
  }

  @Test func acceptedAnswersShowNoValues() throws {
    let verdict = try setup.verifyApple(setup.answerApple(request: everything), request: everything)
    guard case .accepted(let presentation) = verdict.outcome, let document = presentation.documents.first else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    #expect(document.elements.count > 20)
    expectSecrecy(of: verdict)
    expectSecrecy(of: presentation)
    expectSecrecy(of: document)
    for element in document.elements {
      expectSecrecy(of: element)
      expectSecrecy(of: element.value)
      expectSecrecy(of: Optional(element.value) as Any)
      expectSecrecy(of: [element.reference: element.value])
    }
    expectSecrecy(of: document.ageAnswers)
  }

  @Test func ageAnswersShowNoAnswer() throws {
    let verdict = try setup.verifyApple(.good)
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    let answer = try #require(presentation.documents.first?.ageAnswers.first)
    #expect(answer.answer)
    #expect(!texts(of: answer).contains { $0.contains("true") })
  }

  @Test func unverifiedAnswersShowNoValues() throws {
    let transcript = MockSessionTranscript.apple(setup.session)
    let answer = try setup.wallet.answer(everything, transcript: transcript, at: setup.now)
    expectSecrecy(of: try DeviceResponse(parsing: answer.bytes))
    expectSecrecy(of: try CBORItem(parsing: answer.bytes))
    let text = Hex.encode(Array(0..<32))
    let shown = texts(of: try SessionTranscript(encoded: transcript))
    #expect(!shown.contains { $0.contains(text) || $0.contains("0, 1, 2, 3, 4") || $0.contains("- 17") })
  }

  /// By its type, a rejection has only codes; this test covers the reports of all variants.
  @Test(arguments: MockVariantTests.inApp.map(\.name))
  func refusalsHoldNoValues(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    let verdict = try setup.verifyApple(variant)
    if case .refused(let reasons) = verdict.outcome { #expect(!reasons.isEmpty) }
    expectSecrecy(of: verdict)
  }

  private func expectSecrecy(of value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(Self.revealed(in: texts(of: value).joined(separator: "\n")) == [], sourceLocation: sourceLocation)
  }

  /// The values in a text. Hashes are random and may contain a short value's digits, so they are ignored.
  static func revealed(in text: String) -> [String] {
    let text = text.replacing(#/[0-9a-f]{64}/#, with: "")
    return values.filter { text.contains($0) }
  }

  private func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [String(describing: value), String(reflecting: value), "\(value)", dumped]
  }
}
