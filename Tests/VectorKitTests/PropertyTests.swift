import FoundationEssentials
import Primitives
import TestSupport
import Testing
import VerificationService

@testable import VectorKit

/// What holds for every vector, whatever is wrong with it.
@Suite struct PropertyTests {
  /// Each takes every eighth vector, so that the cores share the work. All give way after each vector, since the other
  /// suites' tests run on the same few threads.
  static let parts = Array(0..<8)

  private let suite: VectorSuite
  private let verifier: OwnVerifier

  init() throws {
    suite = try CommittedCorpus.suite()
    verifier = OwnVerifier(anchors: suite.anchors)
  }

  private func vectors(of part: Int) -> [TestVector] {
    suite.entries.enumerated().filter { $0.offset % Self.parts.count == part }.map(\.element.vector)
  }

  /// With `MDOC_EXHAUSTIVE=1` at every byte, meant for a release build. What has bytes too many may lose them, and is
  /// then the right answer that it was made from.
  @Test(arguments: parts) func `a truncated answer is never accepted`(part: Int) async {
    var count = 0
    for vector in vectors(of: part) {
      await Task.yield()
      let bytes = vector.input.bytes
      let isComplete = vector.expectation.isAccepted
      for length in lengths(bytes.count, ofMany: isComplete || count % 4 == 0) {
        let judgement = verifier.judge(vector, input: Array(bytes[..<length]))
        count += 1
        guard judgement.isAccepted else {
          #expect(judgement.codes?.isEmpty == false)
          continue
        }
        #expect(
          !isComplete && knownResults(like: vector).contains(judgement.resultHash),
          "\(vector.id) cut to \(length) bytes")
      }
    }
    #expect(count > 500)
  }

  /// A flipped bit may mend what was wrong; the result must then be one that the corpus knows as right.
  @Test(arguments: parts) func `a flipped bit never yields another accepted result`(part: Int) async {
    var generator = SeededGenerator(seed: 18_013_005 + UInt64(part))
    for vector in vectors(of: part) {
      await Task.yield()
      let bytes = vector.input.bytes
      let original = verifier.judge(vector).resultHash
      for _ in 0..<flips(bytes.count) {
        let bit = Int.random(in: 0..<bytes.count * 8, using: &generator)
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        let judgement = verifier.judge(vector, input: changed)
        if judgement.isAccepted {
          #expect(
            judgement.resultHash == original || knownResults(like: vector).contains(judgement.resultHash),
            "\(vector.id) bit \(bit)")
        } else {
          #expect(judgement.codes?.isEmpty == false)
        }
      }
    }
  }

  @Test func `what is refused shows no element`() async throws {
    for vector in suite.entries.map(\.vector) where !vector.expectation.isAccepted {
      await Task.yield()
      guard let verdict = try verifier.verdict(on: vector, input: vector.input.bytes) else { continue }
      let json = VerdictRendering.json(verdict)
      #expect(json["result"]?.isNull == true, "\(vector.id)")
      let shown = json.text() + String(describing: verdict)
      #expect(CommittedCorpus.secrets.filter { shown.contains($0) } == [], "\(vector.id)")
    }
  }

  @Test func `no report of a run shows an element`() async throws {
    let report = await VectorRunner(suite).run()
    let outputs = [
      JSONReport.json(report).text(), String(decoding: JUnitReport.xml(report), as: UTF8.self),
      String(decoding: HTMLReport(report).bytes, as: UTF8.self), dumped(report.results.map(\.judgement)),
    ]
    for output in outputs { #expect(CommittedCorpus.secrets.filter { output.contains($0) } == []) }
  }

  /// The bound is generous: a debug build on a busy machine takes a tenth of it. A release build takes milliseconds.
  @Test func `abuse is refused in bounded time`() async {
    for vector in suite.entries.map(\.vector) where vector.flags.contains(where: { $0.bugClass == .denialOfService }) {
      await Task.yield()
      let bytes = vector.input.bytes
      let time = ContinuousClock().measure { #expect(!verifier.judge(vector, input: bytes).isAccepted) }
      #expect(time < .seconds(5), "\(vector.id) took \(time)")
    }
  }

  // MARK: Amounts

  private var isExhaustive: Bool { ProcessInfo.processInfo.environment["MDOC_EXHAUSTIVE"] == "1" }

  /// Every sixteenth, and the last 64 bytes, of some answers the last 8; of very large answers the sixteenths alone.
  private func lengths(_ count: Int, ofMany: Bool) -> [Int] {
    if isExhaustive, count < 1 << 15 { return Array(0..<count) }
    let sixteenths = (0..<16).map { count * $0 / 16 }
    let last = count < 1 << 16 ? Array(max(0, count - (ofMany ? 64 : 8))..<count) : [count - 1]
    return Set(sixteenths + last).sorted()
  }

  private func flips(_ count: Int) -> Int {
    count > 1 << 16 ? 1 : (isExhaustive ? 256 : 8)
  }

  private func knownResults(like vector: TestVector) -> [[UInt8]?] {
    suite.entries.map(\.vector).filter {
      $0.expectation.isAccepted && $0.request == vector.request
    }.map { verifier.judge($0).resultHash }
  }

  private func dumped(_ value: Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
  }
}
