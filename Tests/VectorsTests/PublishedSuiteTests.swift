import Base
import FoundationEssentials
import Testing

@testable import Vectors

/// How folders of published sets are recognised, and that a case which ends wrongly fails: on files of our own.
@Suite struct PublishedSuiteTests {
  private let folder: SuiteFolder

  init() throws {
    let path = FileManager.default.temporaryDirectory.path + "/mdoc-published-\(UUID().uuidString)"
    folder = SuiteFolder(path)
    try folder.write(Self.file("hmac", results: ["valid", "invalid", "acceptable"]), to: "any name/hmac_test.json")
  }

  @Test func `what its publisher says otherwise fails`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let report = try #require(try PublishedSuite.run(at: folder.path, filter: nil))
    #expect(report.groups.map(\.name) == ["any name"])
    #expect(report.results.map(\.summary.id) == (1...3).map { "wycheproof/hmac/\($0)" })
    #expect(report.results.map(\.problem) == [nil, "accepted and should be refused", nil])
    #expect(report.results.map(\.summary.expectation.text) == ["accepted", "refused", "accepted or refused"])
    #expect(report.results.allSatisfy { $0.observed == "accepted" })
    #expect(!report.hasPassed)
  }

  @Test func `what is not known is skipped and named`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    try folder.write(Self.file("other", results: ["valid"], schema: "other.json"), to: "any name/other_test.json")
    try folder.write(Array("{}".utf8), to: "unknown/file.json")
    try folder.write([0xa0], to: "later/apple-doc-sample-request.json")
    let report = try #require(try PublishedSuite.run(at: folder.path, filter: nil))
    let skipped = report.results.compactMap { result in result.skipReason.map { "\(result.summary.id): \($0)" } }
    #expect(
      skipped == [
        "wycheproof/other/1: tests of the schema other.json are not known here",
        "apple-dcapi/apple-doc-sample-request.json: a request, whose origin is not published",
        "unknown/folder: its layout is not known here",
      ])
  }

  @Test func `a folder of which no part is known is somebody else's`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    #expect(try PublishedSuite.run(at: CommittedCorpus.path, filter: nil) == nil)
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path + "/absent", filter: nil) }
  }

  @Test func `a file of a known set that can't be read stops the run`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    try folder.write(Array("{".utf8), to: "any name/aes_test.json")
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path, filter: nil) }
    try folder.write(Array("{}".utf8), to: "any name/aes_test.json")
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path, filter: nil) }
  }

  @Test func `no two sets recognise the same folder`() throws {
    #expect(Set(PublishedSuite.sets.map(\.name)).count == PublishedSuite.sets.count)
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let theirs = PublishedSuite.sets.filter { $0.isHere(SuiteFolder(folder.path + "/any name")) }
    #expect(theirs.map(\.name) == ["wycheproof"])
  }

  /// Wycheproof's layout; every tag is right (RFC 4231, 4.3), whatever is said of it.
  private static func file(_ name: String, results: [String], schema: String = "mac_test_schema_v1.json") -> [UInt8] {
    let tests = results.enumerated().map { index, result -> JSON in
      [
        "tcId": .integer(Int64(index + 1)), "comment": "", "flags": [], "key": "4a656665",
        "msg": "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
        "tag": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "result": .string(result),
      ]
    }
    let json: JSON = [
      "algorithm": "HMACSHA256", "schema": .string(schema),
      "testGroups": [["tagSize": 256, "tests": .array(tests)]],
    ]
    return json.serialized()
  }
}
