import Base

/// A whole corpus as one JSON file, `mdoc-vectors.json`: every case and every anchor, for harnesses that read no folders.
///
/// A case is its file's content with its `group` and the `profiles` that it needs. An anchor is that of a harness question.
package enum PackedCorpus {
  package static let file = "mdoc-vectors.json"

  /// The file's bytes, with one case a line.
  ///
  /// - Throws: `SuiteError` if the suite has no ledger, or if its files are not in the form that the program writes: then
  ///   the digest could not be computed of what is packed.
  package static func content(of suite: VectorSuite) throws(SuiteError) -> [UInt8] {
    guard let version = suite.edition else {
      throw SuiteError(path: "\(suite.path)/\(CorpusLedger.fileName)", problem: "is missing, and no version is known")
    }
    guard suite.computedDigest == suite.digest else {
      throw SuiteError(path: suite.path, problem: "holds files that are not as the program writes them")
    }
    let anchors = suite.anchors.names.flatMap { suite.anchors.json(of: $0, calledBy: $0) }
    let text = """
      {
        "schema_version": \(CorpusLedger.schemaVersion),
        "version": "\(version)",
        "sha256": "\(suite.digest)",
        "licence": "Apache-2.0",
        "count": \(suite.entries.count),
        "anchors": [
      \(lines(anchors))
        ],
        "cases": [
      \(lines(suite.entries.map(json)))
        ]
      }

      """
    return Array(text.utf8)
  }

  private static func lines(_ values: [JSON]) -> String {
    values.map { "    " + $0.text() }.joined(separator: ",\n")
  }

  private static func json(_ entry: VectorSuite.Entry) -> JSON {
    let whole: [JSON.Member] = [
      .init("group", .string(entry.group)), .init("profiles", .strings(entry.vector.profiles.map(\.rawValue))),
    ]
    return .object(whole + (entry.vector.json.object ?? []))
  }

  /// The members of a case that its own file does not have.
  private static let added: Set<String> = ["group", "profiles"]

  /// Reads the cases of a packed corpus.
  static func entries(_ json: JSON) throws(VectorFault) -> [VectorSuite.Entry] {
    let reader = MemberParser(json, at: "")
    guard try reader.integer("schema_version") == CorpusLedger.schemaVersion else {
      throw reader.fault("schema_version", "is not \(CorpusLedger.schemaVersion), which this program reads")
    }
    guard let cases = try reader.value("cases").array else { throw reader.fault("cases", "is no array") }
    guard try reader.integer("count") == Int64(cases.count) else {
      throw reader.fault("count", "is not the number of its cases, \(cases.count)")
    }
    var inputs: [String: [UInt8]] = [:]
    for made in cases {
      if let id = made["id"]?.string, let group = made["group"]?.string, let input = made["input"]?.string {
        inputs["\(group)/\(id)"] = Base64.decodeURLSafe(input)
      }
    }
    var entries: [VectorSuite.Entry] = []
    for made in cases {
      let group = try MemberParser(made, at: "/cases/\(entries.count)").string("group")
      let file = JSON.object((made.object ?? []).filter { !added.contains($0.name) })
      do throws(VectorFault) {
        entries.append(.init(group: group, vector: try TestVector(json: file) { inputs["\(group)/\($0)"] }))
      } catch {
        throw VectorFault(pointer: "/cases/\(entries.count)\(error.pointer)", problem: error.problem)
      }
    }
    return entries
  }
}
