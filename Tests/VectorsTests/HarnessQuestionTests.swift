import Base
import Testing

@testable import CorpusMaking
@testable import Vectors

/// Requests to another verifier, and the end of requests.
@Suite struct HarnessQuestionTests {
  private let suite: VectorSuite

  init() throws { suite = try CommittedCorpus.suite() }

  @Test func `a question has no member that tells of the case`() {
    let needed: Set = [
      "id", "validation_time", "protocol", "session", "request", "trust_anchors", "policy", "publications",
      "anchor_list", "anchors", "input",
    ]
    for vector in suite.entries.map(\.vector) {
      let question = suite.anchors.question(of: vector)
      let names = Set((question.object ?? []).map(\.name))
      #expect(names.isSubset(of: needed), "\(vector.id)")
      let texts = Self.texts(in: question)
      for telling in [vector.id, vector.description, vector.reference] + vector.namedAnchors {
        #expect(!texts.contains(telling), "\(vector.id): \(telling)")
      }
      for name in vector.expectation.codes { #expect(!texts.contains { $0.contains(name) }, "\(vector.id)") }
    }
  }

  /// The transcript has the reader's key as the reader sent it.
  @Test func `a reader's key comes with its public point`() throws {
    let vector = try #require(suite.entries.first { $0.vector.id == "device-mac-good" }?.vector)
    let session = suite.anchors.question(of: vector)["session"]
    let point = Base64.decodeURLSafe(session?["reader_public_key"]?.string ?? "") ?? []
    let transcript = Base64.decodeURLSafe(session?["transcript"]?.string ?? "") ?? []
    #expect(point.count == 65 && point.first == 4)
    for coordinate in [point[1..<33], point[33...]] { #expect(transcript.contains(coordinate)) }
    let other = try #require(suite.entries.first { $0.vector.id == "good" }?.vector)
    #expect(suite.anchors.question(of: other)["session"]?["reader_public_key"] == nil)
  }

  @Test func `a question's id is another case's for no case, and the same in every run`() {
    let ids = suite.entries.map(\.vector.askedID)
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
    #expect(suite.entries.first { $0.vector.id == "good" }?.vector.askedID == Self.askedIDOfGood)
  }

  /// SHA-256 of `mdoc vector/good`, as another program computes it.
  private static let askedIDOfGood = "dfafa0a308b873c4"

  @Test func `a question is enough to judge by`() async throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    var protocols: [String: Int] = [:]
    for vector in suite.entries.map(\.vector) where vector.input.count < 100_000 {
      protocols[vector.session.protocolName, default: 0] += 1
      guard protocols[vector.session.protocolName, default: 0] % 12 == 1 else { continue }
      let answer = try await HarnessHandler().reply(to: suite.anchors.question(of: vector))
      let judgement = await verifier.judge(vector)
      #expect(answer["verdict"]?.string == (judgement.isAccepted ? "accepted" : "rejected"), "\(vector.id)")
      #expect(answer["codes"]?.array?.compactMap(\.string) == judgement.codes, "\(vector.id)")
    }
    #expect(protocols.count == 10)
  }

  /// Older harnesses may get requests with more members.
  @Test func `a whole vector is a question too`() async throws {
    let vector = try #require(suite.entries.first { $0.vector.id == "element-twice" }?.vector)
    let anchors = suite.anchors.question(of: vector)["anchors"]?.array?.map { anchor in
      JSON.object((anchor.object ?? []).map { $0.name == "name" ? .init("name", "iaca") : $0 })
    }
    let question = JSON.object((vector.json.object ?? []) + [.init("anchors", .array(anchors ?? []))])
    #expect(try await HarnessHandler().reply(to: question)["codes"] == ["mdoc.element.duplicate"])
  }

  @Test func `a verifier that is gone is asked no more`() async throws {
    let asked = Locked(0)
    let runner = VectorRunner(suite, subject: "http://harness") { _ throws(VerdictError) in
      let count = asked.withLock { count -> Int in
        count += 1
        return count
      }
      guard count < 3 else { throw .gone("the harness closed the connection") }
      return Judgement(isAccepted: true)
    }
    let interruption = await #expect(throws: InterruptedRunError.self) { try await runner.run() }
    #expect(asked.withLock { $0 } == 3)
    #expect(interruption?.id == suite.entries[2].vector.id)
    #expect(interruption?.judged == 2 && interruption?.total == suite.entries.count)
  }

  @Test func `a reply without a verdict fails its case, and the run goes on`() async throws {
    let report = try await VectorRunner(suite, subject: "x") { _ throws(VerdictError) in
      throw .other("the harness answered HTTP 500")
    }.run()
    #expect(report.count.failed == suite.entries.count)
    #expect(report.failures[0].problem == "no verdict: the harness answered HTTP 500")
  }

  @Test func `every feature that a case needs is a known one`() {
    let needed = Set(suite.entries.flatMap(\.vector.features))
    #expect(needed.count > 20 && needed.isSubset(of: Corpus.features))
    #expect(Corpus.features == VectorFeature.known)
  }

  private static func texts(in json: JSON) -> [String] {
    if let text = json.string { return [text] }
    return (json.array ?? []).flatMap(texts) + (json.object ?? []).flatMap { texts(in: $0.value) }
  }
}
