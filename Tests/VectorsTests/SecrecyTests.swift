import Base
import Sessions
import Testing

@testable import Vectors

/// Rejected responses, whose data must not be visible.
@Suite struct SecrecyTests {
  private let known: KnownResults

  init() async throws { known = try await KnownResults.get() }

  @Test func `what is refused shows no element`() async throws {
    for vector in known.suite.entries.map(\.vector) where !vector.expectation.isAccepted {
      await Task.yield()
      guard let verdict = try await known.verifier.verdict(on: vector, input: vector.input.bytes) else { continue }
      let json = VerdictRendering.json(verdict)
      #expect(json["result"]?.isNull == true, "\(vector.id)")
      let shown = json.text() + String(describing: verdict) + dumped(verdict)
      #expect(CommittedCorpus.secrets.filter { shown.contains($0) } == [], "\(vector.id)")
    }
  }

  @Test func `no report of a run shows an element`() async throws {
    let report = try await VectorRunner(known.suite).run()
    let outputs = [
      JSONReport.json(report).text(), String(decoding: JUnitReport.xml(report), as: UTF8.self),
      String(decoding: HTMLReport(report).bytes, as: UTF8.self), dumped(report.results.map(\.judgement)),
    ]
    for output in outputs { #expect(CommittedCorpus.secrets.filter { output.contains($0) } == []) }
  }

  private func dumped(_ value: Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
  }
}
