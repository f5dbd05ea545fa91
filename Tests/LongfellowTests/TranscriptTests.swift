import TestSupport
import Testing

@testable import Longfellow

@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct TranscriptTests {
  private struct Published: Decodable {
    struct Step: Decodable {
      let write: String
      let gf, p256: [HexBytes]?
      let nats, choose6of20: [Int]?
    }
    let steps: [Step]
  }

  @Test func `a transcript gives the published challenges`() throws {
    let published: Published = try PublishedVectors.json("longfellow/derived/transcript.json")
    var transcript = Transcript(session: Array("test".utf8))
    for step in published.steps {
      switch step.write {
      case "bytes 00..63 (100 bytes)": transcript.write(bytes: Array(0..<100))
      case "one GF element 7": transcript.write(element: FieldGF128(low: 7, high: 0))
      case "array of two P-256 elements 8, 9": transcript.write(array: [FieldP256.point(8), FieldP256.point(9)])
      case "nothing (same stream)": break
      default: Issue.record("an unknown step: \(step.write)")
      }
      for expected in step.gf ?? [] { #expect(transcript.element(FieldGF128.self).bytes == expected.bytes) }
      for expected in step.p256 ?? [] { #expect(transcript.element(FieldP256.self).bytes == expected.bytes) }
      // The vector gives no bounds; these are the ones that fit.
      for (expected, bound) in zip(step.nats ?? [], [1, 2, 7, 256, 1000, 65_537]) {
        #expect(transcript.number(below: bound) == expected)
      }
      if let expected = step.choose6of20 { #expect(transcript.choose(6, of: 20) == expected) }
    }
  }
}
