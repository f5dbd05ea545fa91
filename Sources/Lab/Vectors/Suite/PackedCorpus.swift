import Base

/// A whole corpus as one JSON file, `mdoc-vectors.json`, for harnesses that do not read folders. A case has its file's
/// content, its `group` and its `profiles`. Anchors have the same form as in a harness question.
package enum PackedCorpus {
  package static let file = "mdoc-vectors.json"
  /// The time of each file in the archive.
  package static let time = Timestamp(secondsSince1970: 1_795_000_000)

  /// The file's bytes, with one case on each line.
  /// - Throws: `SuiteError` if the suite has no ledger, or if its files differ from the program's output.
  package static func content(of suite: VectorSuite) throws(SuiteError) -> [UInt8] {
    guard let version = suite.edition else {
      throw SuiteError(path: "\(suite.path)/\(CorpusLedger.fileName)", problem: "is missing, so the version is unknown")
    }
    // Readers can compute the digest only if the files match the program's output.
    guard suite.computedDigest == suite.digest else {
      throw SuiteError(path: suite.path, problem: "has files that differ from the program's output")
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

  /// A packed corpus without its anchors.
  struct Content {
    var version = ""
    var digest = ""
    var cases: [JSON] = []
  }

  private static let shape = Shape<Content>.form(
    "packed corpus", from: Content(),
    Member(derived: "schema_version", { _ in CorpusLedger.schemaVersion }, CorpusLedger.schemaVersionShape),
    Member("version", \.version, .nonEmpty), Member("sha256", \.digest, .nonEmpty),
    Member(derived: "count", \.cases.count, .whole(0...Int.max)),
    Member("cases", \.cases, Shape<JSON>.any([:]).elements)
  ).holding { json, pointer, faults in
    guard let cases = json["cases"]?.array, json["count"]?.integer != Int64(cases.count) else { return }
    faults.add("\(pointer)/count", "must be \(cases.count), the number of its cases")
  }

  static func content(_ json: JSON) throws(VectorError) -> Content { try shape.parsed(json) }

  static func entries(_ content: Content) throws(VectorError) -> [VectorSuite.Entry] {
    let inputs = SuiteInputs(content.cases.map { ($0["group"]?.string ?? "", $0) })
    var entries: [VectorSuite.Entry] = []
    for made in content.cases {
      do throws(VectorError) {
        guard let group = made["group"]?.string else { throw VectorError(pointer: "/group", problem: "is required") }
        entries.append(.init(group: group, vector: try inputs.vector(made, in: group)))
      } catch {
        throw VectorError(pointer: "/cases/\(entries.count)\(error.pointer)", problem: error.problem)
      }
    }
    return entries
  }
}
