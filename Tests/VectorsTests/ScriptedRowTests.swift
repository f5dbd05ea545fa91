import FoundationEssentials
import Testing

/// Rows of the list of negative cases that no vector can cover: the corpus's README names their tests.
@Suite struct ScriptedRowTests {
  /// A row of the README's table: `S09`, and `SQLiteStoreTests: reopened, crashed; FlowTests: …`.
  private struct Row: Sendable {
    let name: String
    /// Files with the functions that the table names.
    let tests: [(file: String, functions: String)]
  }

  private let rows: [Row]
  /// The sources of all tests by the names of their files.
  private let sources: [String: [String]]

  init() throws {
    let readme = try String(contentsOfFile: CommittedCorpus.path + "/README.md", encoding: .utf8)
    rows = readme.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
      guard cells.count == 3, let match = cells[0].wholeMatch(of: /([ASED][0-9]{2}) */) else { return nil }
      let tests = cells[2].split(separator: ";").compactMap { part -> (file: String, functions: String)? in
        guard let match = part.wholeMatch(of: /\s*([A-Za-z]+): (.+?)\s*/) else { return nil }
        return (String(match.1), String(match.2))
      }
      return Row(name: String(match.1), tests: tests)
    }
    let folder = CommittedCorpus.root + "/Tests"
    sources = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix("Tests.swift") }
      .reduce(into: [:]) { sources, path in
        let name = path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
        sources[String(name), default: []].append(try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8))
      }
  }

  @Test func `every row about sessions and HTTP is in the table`() {
    let expected =
      (1...14).map { "S" + ($0 < 10 ? "0" : "") + "\($0)" } + ["S17", "A17", "A18", "E26", "D02", "D18", "D19", "D20"]
    #expect(Set(rows.map(\.name)) == Set(expected) && rows.count == expected.count)
  }

  @Test func `every test that the table names is there`() {
    for row in rows {
      #expect(!row.tests.isEmpty, "\(row.name)")
      for test in row.tests {
        #expect(sources[test.file] != nil, "\(row.name): \(test.file)")
        for function in functions(test.functions, in: test.file) {
          #expect(has(function, test.file), "\(row.name): \(function) in \(test.file)")
        }
      }
    }
  }

  /// Names are separated by commas; a name in backticks may contain commas.
  private func functions(_ names: String, in file: String) -> [String] {
    var found: [String] = []
    var rest = names.split(separator: ",").map { String($0.drop { $0 == " " }) }
    while !rest.isEmpty {
      let whole = (1...rest.count).reversed().first { has(rest.prefix($0).joined(separator: ", "), file) } ?? 1
      found.append(rest.prefix(whole).joined(separator: ", "))
      rest.removeFirst(whole)
    }
    return found
  }

  private func has(_ function: String, _ file: String) -> Bool {
    (sources[file] ?? []).contains { $0.contains("func \(function)(") || $0.contains("func `\(function)`(") }
  }
}
