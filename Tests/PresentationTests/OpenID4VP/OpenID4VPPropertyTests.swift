import Base
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// A good answer that ends too early or has a bit changed is refused, or shows what the good one shows.
@Suite struct OpenID4VPPropertyTests {
  let fixture: OpenID4VPFixture
  private let parameters: [UInt8]
  private let response: [UInt8]
  private let shown: String

  init() throws {
    let small = DocumentRequest(
      docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))])
    fixture = try OpenID4VPFixture(request: PresentationRequest(documents: [small]))
    let bytes = try fixture.deviceResponse(small, over: fixture.challenge().transcript)
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(bytes))]]
    parameters = fixture.parameters(token).serialized()
    let data = try fixture.encrypt(bytes: parameters)
    response = Array(try #require(data["response"]?.string).utf8)
    shown = try #require(fixture.verify(data).shownResult)
  }

  @Test func aTruncatedResponseIsRefused() {
    for length in 0..<response.count {
      #expect(verify(response.prefix(length)).shownResult == nil, "\(length)")
    }
  }

  @Test func truncatedParametersAreRefused() throws {
    for length in stride(from: 0, to: parameters.count, by: 11) {
      let data = try fixture.encrypt(bytes: Array(parameters.prefix(length)))
      #expect(fixture.verify(data).codes == [.envelopePlaintextMalformed], "\(length)")
    }
  }

  /// All is under the tag, the header included.
  @Test func noBitOfTheResponseCanBeChanged() {
    var random = SeededGenerator(seed: 0x6f70_656e)
    for _ in 0..<2_000 {
      let index = Int.random(in: response.indices, using: &random)
      var changed = response
      changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      #expect(verify(changed[...]).shownResult == nil, "\(index)")
    }
  }

  /// What a wallet could encrypt: a change is refused or, in a name that is ignored, makes no difference.
  @Test func changedParametersShowNothingElse() throws {
    var random = SeededGenerator(seed: 0x6964_3476)
    for _ in 0..<500 {
      let index = Int.random(in: parameters.indices, using: &random)
      var changed = parameters
      changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let result = fixture.verify(try fixture.encrypt(bytes: changed)).shownResult
      #expect(result == nil || result == shown, "\(index)")
    }
  }

  private func verify(_ response: ArraySlice<UInt8>) -> Verdict {
    fixture.verify(["response": .string(String(decoding: response, as: UTF8.self))])
  }
}
