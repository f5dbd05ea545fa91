import Base
import FoundationEssentials
import Longfellow
import Mock
import TestSupport
import Testing

@testable import CorpusMaking
@testable import Vectors

/// The committed corpus: its content matches its declaration, and our verifier gives the expected result for each
/// vector.
@Suite struct CorpusTests {
  @Test func `our verifier ends every case as it must`() async throws {
    let circuits = try CommittedCorpus.circuits()
    let report = try await VectorRunner(try CommittedCorpus.suite(), circuits: circuits).run()
    for failure in report.failures {
      Issue.record("\(failure.summary.id): \(failure.problem ?? "")")
    }
    #expect(report.count.total > 350)
    // Proofs are verified if the published circuits are available.
    #expect(report.count.skipped == 0 || !PublishedVectors.areHere)
    #expect(report.count.failed == 0 && report.count.passed > 900)
    print("\(report.count.total) vectors in \(report.durationText) s")
  }

  @Test func `the committed files are those that are declared, byte for byte`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/mdoc-corpus-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try SuiteFolder(folder).write(Array("{}".utf8), to: "framing/not-declared.json")
    let made = try Regeneration(of: CorpusMaker(circuits: CommittedCorpus.circuits()), into: folder)
    #expect(made.removed == ["framing/not-declared.json"])
    for path in made.written {
      let committed = FileManager.default.contents(atPath: "\(CommittedCorpus.path)/\(path)")
      #expect(committed == FileManager.default.contents(atPath: "\(folder)/\(path)"), "\(path)")
    }
    let vectors = try SuiteFolder(CommittedCorpus.path).vectorFiles()
      .filter { PublishedVectors.areHere || !$0.hasPrefix("zero-knowledge/") }
    #expect(Set(vectors).subtracting(made.written) == [])
    #expect(made.bytes < 12 << 20, "the committed corpus stays small")
  }

  @Test func `another seed makes other bytes, and the same case`() throws {
    let declared = try #require(Corpus.cases.first { $0.id == "good" })
    let ours = try CorpusMaker().vector(declared)
    let other = try CorpusMaker(seed: [1, 2, 3]).vector(declared)
    #expect(other.input != ours.input)
    #expect(other.expectation == ours.expectation && other.request == ours.request)
  }

  @Test func `the README counts every group`() throws {
    let suite = try CommittedCorpus.suite()
    let text = String(decoding: try SuiteFolder(suite.path).read("README.md"), as: UTF8.self)
    for (group, cases) in Dictionary(grouping: suite.entries, by: \.group) {
      #expect(text.contains("| `\(group)` | \(cases.count) |"), "\(group)")
    }
  }

  @Test func `it keeps its own rules`() throws {
    let lint = try SuiteLint(at: CommittedCorpus.path)
    #expect(lint.findings.map(\.description) == [])
    #expect(lint.count > 350)
  }

  /// Mistakes of every verifier that was run for the list of negative cases, each with its own code.
  @Test func `the eight common holes each have their code`() throws {
    let expected: [(String, Code)] = [
      ("element-twice", .elementDuplicate), ("age-contradictory", .ageContradictory),
      ("elements-none", .elementMissing), ("document-errors-returned", .documentErrorsPresent),
      ("document-twice", .documentUnexpected), ("age-type-one", .elementTypeInvalid),
      ("device-auth-ambiguous", .deviceAuthAmbiguous), ("device-element-unauthorized", .deviceElementUnauthorized),
    ]
    let vectors = try CommittedCorpus.suite().entries.map(\.vector)
    for (id, code) in expected {
      #expect(vectors.first { $0.id == id }?.expectation.codes == [code.rawValue], "\(id)")
    }
    #expect(Set(expected.map(\.1)).count == 8)
  }

  @Test func `everything that the mock can make is in it`() throws {
    let ids = Set(try CommittedCorpus.suite().entries.map(\.vector.id))
    let names =
      MockVariant.all.map(\.name) + MockRevocationCase.all.map(\.name) + MockList.all(.crl).map(\.name)
      + MockList.all(.status).map(\.name) + MockList.all(.identifiers).map(\.name) + MockList.all(.vical).map(\.name)
      + MockList.all(.trustedEntities).map(\.name)
    #expect(names.filter { !ids.contains($0) } == [])
  }

  @Test func `right answers stand beside the wrong ones`() throws {
    let vectors = try CommittedCorpus.suite().entries.map(\.vector)
    #expect(vectors.count { $0.expectation.isAccepted } > 80)
    let web = [VectorSession.annexCName] + VectorSession.OpenID4VP.overBrowser + VectorSession.OpenID4VP.redirected
    for name in ["apple-in-app", "proximity"] + web {
      #expect(vectors.contains { $0.expectation.isAccepted && $0.session.protocolName == name })
    }
  }
}

/// The committed corpus, found from this file, in Tests/VectorsTests.
enum CommittedCorpus {
  static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  static let path = root + "/TestVectors"

  /// The published circuits; nil if they are missing.
  static func circuits() throws -> CircuitLibrary? {
    guard PublishedVectors.areHere else { return nil }
    return try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
  }

  static func suite() throws -> VectorSuite { try VectorSuite(at: path) }

  /// Values of the mock person that occur nowhere else, such as in ids, descriptions, certificates or types.
  static let secrets = [
    "Morgan", "1990-04-12", "Mock Driver License", "M18013505", "P23220401", "52 Example", "Salt Lake", "84101",
    "Mock Passport Office", "1001-23220",
  ]
}
