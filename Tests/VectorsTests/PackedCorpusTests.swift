import Base
import Testing

@testable import CorpusMaking
@testable import Vectors

/// The corpus as one file.
@Suite struct PackedCorpusTests {
  @Test func `what is packed is read as the same suite`() throws {
    let suite = try CommittedCorpus.suite()
    let scratch = try TemporaryFolder()
    let path = scratch.path
    let content = try PackedCorpus.content(of: suite)
    try SuiteFolder(path).write(content, to: "one.json")
    let packed = try VectorSuite(at: "\(path)/one.json")
    #expect(packed.entries.map(\.vector) == suite.entries.map(\.vector))
    #expect(packed.entries.map(\.group) == suite.entries.map(\.group))
    #expect(packed.digest == suite.digest && packed.edition == suite.edition)
    #expect(packed.anchors.names == suite.anchors.names)
    #expect(try PackedCorpus.content(of: packed) == content)
    let json = try JSON(parsing: content)
    #expect(json["count"]?.integer == Int64(suite.entries.count))
    #expect(json["cases"]?.array?.allSatisfy { $0["profiles"]?.array?.isEmpty == false } == true)

    // One word of one case is changed: the digest detects it.
    let text = String(decoding: content, as: UTF8.self)
    let changed = text.replacing("The same item is returned twice.", with: "The same item is returned twive.")
    #expect(changed != text)
    try SuiteFolder(path).write(Array(changed.utf8), to: "two.json")
    let error = #expect(throws: SuiteError.self) { try VectorSuite(at: "\(path)/two.json") }
    #expect(error?.problem == "does not match its sha256")
    let less = text.replacing("\"count\": \(suite.entries.count)", with: "\"count\": 1")
    try SuiteFolder(path).write(Array(less.utf8), to: "three.json")
    let count = #expect(throws: SuiteError.self) { try VectorSuite(at: "\(path)/three.json") }
    #expect(count?.problem == "/count must be \(suite.entries.count), the number of its cases")
  }

  @Test func `changes name what is new, what is gone and what is other`() throws {
    let suite = try CommittedCorpus.suite()
    let scratch = try TemporaryFolder()
    let path = scratch.path
    let folder = SuiteFolder(path)
    for file in suite.anchors.files { try folder.write(file.content, to: file.path) }
    for entry in suite.entries where entry.group == "items" {
      try folder.write(entry.vector.fileContent, to: "items/\(entry.vector.id).json")
    }
    let old = try VectorSuite(at: path)
    #expect(CorpusChanges(from: old, to: old).isEmpty)
    var added = try #require(suite.entry("element-twice")).vector
    added.id = "element-thrice"
    try folder.write(added.fileContent, to: "items/element-thrice.json")
    var other = try #require(suite.entry("element-twice")).vector
    other.expectation.codes = ["mdoc.digest.mismatch"]
    let first = try #require(old.entries.first { $0.vector.id != "element-twice" }).vector
    var gone = first
    gone.description = "Other words."
    try folder.write(gone.fileContent, to: "items/\(first.id).json")
    try folder.remove("items/\(try #require(old.entries.last).vector.id).json")
    try folder.write(other.fileContent, to: "items/element-twice.json")
    let changes = CorpusChanges(from: old, to: try VectorSuite(at: path))
    #expect(changes.added.map(\.id) == ["element-thrice"])
    #expect(changes.retired.map(\.id) == [try #require(old.entries.last).vector.id])
    #expect(changes.changedMeaning.map(\.id) == ["element-twice"])
    #expect(changes.changedFile.map(\.id) == [first.id])
    #expect(changes.markdown.contains("Added (1):\n\n- `element-thrice`: The same item is returned twice."))
  }

  @Test func `every case needs a profile, and not all need the same`() throws {
    let entries = try CommittedCorpus.suite().entries
    #expect(entries.allSatisfy { !$0.vector.profiles.isEmpty })
    for profile in VectorProfile.allCases where profile != .revocation {
      #expect(entries.contains { $0.vector.profiles == [profile] }, "\(profile)")
    }
    for entry in entries where entry.group == "lists" { #expect(entry.vector.profiles.contains(.trustLists)) }
    for entry in entries where entry.group == "revocation" { #expect(entry.vector.profiles.contains(.revocation)) }
    let core = entries.filter { $0.vector.profiles == [.core] }
    #expect(core.count > 300)
    #expect(core.allSatisfy { $0.vector.publications.isEmpty && $0.vector.anchorList == nil })
  }
}
