import Base
import Vectors

/// The changes between two versions of a corpus, for its changelog.
package struct CorpusChanges: Sendable {
  /// The versions; nil where a corpus has none.
  package let before: String?
  package let after: String?
  package let added: [TestVector]
  package let retired: [TestVector]
  /// The same id with another meaning, which no version may have.
  package let changedMeaning: [TestVector]
  /// The same meaning with other bytes, conditions or words.
  package let changedFile: [TestVector]

  package init(from old: VectorSuite, to new: VectorSuite) {
    func byID(_ suite: VectorSuite) -> [String: TestVector] {
      Dictionary(suite.entries.map { ($0.vector.id, $0.vector) }) { first, _ in first }
    }
    let (olds, news) = (byID(old), byID(new))
    func sorted(_ vectors: some Sequence<TestVector>) -> [TestVector] { vectors.sorted { $0.id < $1.id } }
    before = old.edition
    after = new.edition
    added = sorted(news.values.filter { olds[$0.id] == nil })
    retired = sorted(olds.values.filter { news[$0.id] == nil })
    let kept = news.values.filter { olds[$0.id].map { $0 != news[$0.id] } ?? false }
    changedMeaning = sorted(kept.filter { olds[$0.id]?.meaning != $0.meaning })
    changedFile = sorted(kept.filter { olds[$0.id]?.meaning == $0.meaning })
  }

  package var isEmpty: Bool { added.isEmpty && retired.isEmpty && changedMeaning.isEmpty && changedFile.isEmpty }

  package var markdown: String {
    var lines = ["## \(after ?? "Unreleased")\(before.map { ", since \($0)" } ?? "")"]
    if isEmpty { lines += ["", "No case changed."] }
    func list(_ title: String, _ vectors: [TestVector], _ text: (TestVector) -> String) {
      guard !vectors.isEmpty else { return }
      lines += ["", "\(title) (\(vectors.count)):", ""] + vectors.map { "- `\($0.id)`\(text($0))" }
    }
    list("Added", added) { ": \($0.description) \(Self.verdict($0)) (\($0.reference))" }
    list("Retired", retired) { ": \($0.description)" }
    list("Means something else, which an id must not", changedMeaning) { ": \(Self.verdict($0))" }
    list("Other bytes, conditions or words, the same meaning", changedFile) { _ in "" }
    return lines.joined(separator: "\n")
  }

  package var json: JSON {
    func ids(_ vectors: [TestVector]) -> JSON { .strings(vectors.map(\.id)) }
    return .members([
      "before": before.map { .string($0) }, "after": after.map { .string($0) }, "added": ids(added),
      "retired": ids(retired), "changed_meaning": ids(changedMeaning), "changed_file": ids(changedFile),
    ])
  }

  private static func verdict(_ vector: TestVector) -> String {
    let codes = vector.expectation.codes.map { "`\($0)`" }.joined(separator: ", ")
    return vector.expectation.isAccepted ? "Accepted." : "Refused with \(codes)."
  }
}
