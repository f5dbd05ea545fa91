import CBOR
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// A good answer that ends too early is never verified, wherever it ends.
@Suite struct TruncationTests {
  let small: SmallAnswer

  init() throws { small = try SmallAnswer() }

  @Test func theWholeAnswerVerifies() throws {
    let expected = try #require(small.verify(envelope: small.envelope).shownResult)
    #expect(try small.verify(plaintext: small.plaintext).shownResult == expected)
    #expect(try small.verify(response: small.response).shownResult == expected)
  }

  @Test func aTruncatedEnvelopeIsRefused() throws {
    for length in 0..<small.envelope.count {
      expectRefusal(try small.verify(envelope: Array(small.envelope[..<length])), length)
    }
  }

  @Test func aTruncatedPlaintextIsRefused() throws {
    for length in 0..<small.plaintext.count {
      expectRefusal(try small.verify(plaintext: Array(small.plaintext[..<length])), length)
    }
  }

  @Test func aTruncatedResponseIsRefused() throws {
    for length in 0..<small.response.count {
      expectRefusal(try small.verify(response: Array(small.response[..<length])), length)
    }
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func applesTruncatedSampleIsRefused() throws {
    let sample = try AppleSample()
    for length in 0..<sample.envelope.count {
      expectRefusal(try sample.verify(envelope: Array(sample.envelope[..<length])), length)
    }
  }

  private func expectRefusal(_ verdict: Verdict, _ length: Int) {
    guard case .refused(let reasons) = verdict.outcome else {
      Issue.record("verified with its first \(length) bytes")
      return
    }
    #expect(!reasons.isEmpty)
  }
}
