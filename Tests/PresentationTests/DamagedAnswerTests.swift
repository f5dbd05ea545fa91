import Base
import CBOR
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// A truncated response is never verified, regardless of the position.
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

/// One flipped bit never yields a verified result other than the original's.
///
/// Unsigned bits, such as those in names of ignored members, may flip: the response then verifies with the same result.
/// Every bit: `MDOC_EXHAUSTIVE=1 swift test -c release -Xswiftc -enable-testing --filter BitFlipTests`.
@Suite struct BitFlipTests {
  let small: SmallAnswer
  let expected: String

  init() throws {
    small = try SmallAnswer()
    expected = try #require(small.verify(response: small.response).shownResult)
  }

  @Test func theResponseIsSmallEnoughToFlipEveryBit() { #expect(small.response.count <= 3_000) }

  /// Only flips in the digit of the minor version may verify: 1.1, 1.2, 1.4 and 1.8 are versions too.
  @Test func flippedResponsesNeverYieldAnotherResult() throws {
    let surviving = try flip(small.response, "response") { try small.verify(response: $0) }
    #expect(Set(surviving.map { $0 / 8 }).isSubset(of: [try minorVersion(in: small.response)]))
  }

  @Test func flippedPlaintextsNeverYieldAnotherResult() throws {
    let surviving = try flip(small.plaintext, "plaintext") { try small.verify(plaintext: $0) }
    #expect(Set(surviving.map { $0 / 8 }).isSubset(of: [try minorVersion(in: small.plaintext)]))
  }

  @Test func flippedEnvelopesNeverYieldAnotherResult() throws {
    let surviving = try flip(small.envelope, "envelope") { try small.verify(envelope: $0) }
    #expect(surviving.isEmpty)
  }

  @Test func flippedTranscriptsNeverVerify() throws {
    var refusedAsTranscript = 0
    for bit in 0..<small.transcript.count * 8 {
      do {
        let verdict = try small.verify(response: small.response, transcript: flipping(bit, of: small.transcript))
        #expect(verdict.shownResult == nil, "transcript bit \(bit)")
      } catch is MdocParseError {
        refusedAsTranscript += 1
      }
    }
    print("transcript: \(small.transcript.count * 8) bits, \(refusedAsTranscript) are no transcript")
  }

  private func flip(_ bytes: [UInt8], _ name: String, _ verify: ([UInt8]) throws -> Verdict) throws -> [Int] {
    let all = 0..<bytes.count * 8
    var generator = SeededGenerator(seed: 20_261_120)
    let bits = isExhaustive ? Array(all) : (0..<2_000).map { _ in Int.random(in: all, using: &generator) }
    var surviving: [Int] = []
    let time = try ContinuousClock().measure {
      for bit in bits {
        let verdict = try verify(flipping(bit, of: bytes))
        if let result = verdict.shownResult {
          surviving.append(bit)
          #expect(result == expected, "\(name) bit \(bit)")
        } else {
          #expect(!verdict.report.reasons.isEmpty)
        }
      }
    }
    let offsets = Set(surviving.map { $0 / 8 }).sorted()
    print(
      "\(name): \(bits.count) of \(all.count) bits in \(time), \(surviving.count) still verify, at bytes \(offsets)")
    return surviving
  }

  private func minorVersion(in bytes: [UInt8]) throws -> Int {
    let version = Array("1.0".utf8)
    return try #require(bytes.indices.first { bytes[$0...].starts(with: version) }) + 2
  }

  private func flipping(_ bit: Int, of bytes: [UInt8]) -> [UInt8] {
    var copy = bytes
    copy[bit / 8] ^= 1 << UInt8(bit % 8)
    return copy
  }
}
