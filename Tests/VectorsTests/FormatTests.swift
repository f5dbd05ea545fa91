import Base
import FoundationEssentials
import Testing

@testable import CorpusMaking
@testable import Vectors

/// Files that are read, written and refused.
@Suite struct FormatTests {
  private let good: TestVector

  init() throws {
    good = try #require(try CommittedCorpus.suite().entries.first { $0.vector.id == "good" }?.vector)
  }

  @Test func `a vector that is read and written again is the same bytes`() throws {
    for entry in try CommittedCorpus.suite().entries {
      let file = try SuiteFolder(CommittedCorpus.path).read("\(entry.group)/\(entry.vector.id).json")
      #expect(entry.vector.fileContent == file, "\(entry.vector.id)")
    }
  }

  /// For every kind of session: a missing or mistyped member is refused, with its path.
  @Test func `what is no session is refused with its place`() throws {
    var names: Set<String> = []
    for entry in try CommittedCorpus.suite().entries where names.insert(entry.vector.session.protocolName).inserted {
      guard let session = entry.vector.json["session"]?.object else { continue }
      for member in session where member.value.string != nil && !["reader_key", "state"].contains(member.name) {
        let isOptional = member.name == "encryption_key" || member.name.hasSuffix("_public_key")
        for wrong in [JSON?.none, .some(1)] where !isOptional || wrong != nil {
          var members = session
          members.removeAll { $0.name == member.name }
          if let wrong { members.append(.init(member.name, wrong)) }
          var vector = entry.vector.json.object ?? []
          vector.removeAll { $0.name == "session" }
          vector.append(.init("session", .object(members)))
          let fault = #expect(throws: VectorError.self) { try TestVector(json: .object(vector)) }
          #expect(fault?.pointer == "/session/\(member.name)", "\(entry.vector.id)")
        }
      }
    }
    #expect(names.count == 10)
  }

  @Test func `a generator makes what it describes`() {
    let bytes = [1, 2, 3] + [UInt8](repeating: 7, count: 50_000) + (0..<20_000).map { UInt8($0 & 255) } + [9]
    let input = VectorInput(describing: bytes)
    #expect(input.isGenerated)
    #expect(input.bytes == bytes)
    #expect(input.count == bytes.count)
    #expect(input.parts.reduce(0) { $0 + $1.bytes.count } < 1_000)
    #expect(!VectorInput(describing: Array(bytes.prefix(1_000))).isGenerated)
  }

  @Test(
    arguments: [
      ("importance", "sometimes", "/importance"), ("validation_time", "yesterday", "/validation_time"),
      ("protocol", "smoke-signals", "/protocol"), ("input", "a b", "/input"), ("expect", [:], "/expect/stage"),
      ("flags", ["x"], "/flags/0"), ("flags", [[:]], "/flags/0/name"), ("id", .null, "/id"), ("cases", [1], "/cases/0"),
      ("generator", [["bytes": "AA"]], "/input"),
    ] as [(String, JSON, String)])
  func `what is no vector is refused with its place`(member: String, value: JSON, pointer: String) throws {
    var members = (good.json.object ?? []).filter { $0.name != member }
    members.append(.init(member, value))
    let fault = #expect(throws: VectorError.self) { try TestVector(json: .object(members)) }
    #expect(fault?.pointer == pointer)
  }

  @Test func `a generator cannot fill the memory`() throws {
    var members = (good.json.object ?? []).filter { $0.name != "input" }
    members.append(.init("generator", [["bytes": "AAAA", "times": 100_000_000]]))
    #expect(throws: VectorError.self) { try TestVector(json: .object(members)) }
  }

  @Test func `the linter finds what breaks the rules`() throws {
    func problems(_ change: (inout TestVector) -> Void) -> [String] {
      var vector = good
      change(&vector)
      return SuiteLint.rules(vector)
    }
    #expect(problems { _ in } == [])
    #expect(
      problems { $0.expectation = .init(stage: .parse, codes: ["cbor.nonsense"]) } == ["cbor.nonsense is not a code"])
    #expect(problems { $0.expectation = .init(stage: .accept, codes: ["mdoc.digest.mismatch"]) }.count == 1)
    #expect(problems { $0.expectation = .init(stage: .accepted, codes: ["cbor.truncated"]) }.count >= 1)
    #expect(
      problems {
        $0.expectation = .init(stage: .authenticate, codes: ["mdoc.digest.mismatch", "trust.issuer_unknown"])
      }.count == 1)
    #expect(problems { $0.description = "No sentence" }.count == 1)
  }

  @Test func `the linter finds files in the wrong place and schema violations`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/mdoc-lint-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = SuiteFolder(path)
    try folder.write(SchemaFile.content, to: "schema.json")
    try folder.write(good.fileContent, to: "controls/good.json")
    try folder.write(good.fileContent, to: "framing/good.json")
    try folder.write(good.fileContent, to: "framing/other.json")
    try folder.write(Array("{\"id\": \"x\", \"more\": 1}".utf8), to: "framing/x.json")
    let findings = try SuiteLint(at: path).findings.map(\.description)
    #expect(findings.contains { $0.contains("framing/good.json: has the id of controls/good.json") })
    #expect(findings.contains { $0.contains("framing/other.json: the id must be the file's name, not good") })
    #expect(findings.contains { $0.contains("unknown anchor iaca") })
    #expect(findings.contains { $0.contains("framing/x.json: /more: is not known") })
    #expect(throws: SuiteError.self) { try VectorSuite(at: path) }
    #expect(throws: SuiteError.self) { try SuiteLint(at: path + "/absent") }
  }
}
