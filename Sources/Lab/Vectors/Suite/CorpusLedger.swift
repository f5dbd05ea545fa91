import Base

/// A semantic version of a corpus: `major.minor.patch`.
package struct CorpusVersion: Sendable, Hashable, CustomStringConvertible {
  private(set) package var major = 0
  private(set) package var minor = 0
  private(set) package var patch = 0

  fileprivate init() {}

  /// Nil unless the text is three numbers separated by dots.
  package init?(_ text: String) {
    let numbers = text.split(separator: ".").compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    (major, minor, patch) = (numbers[0], numbers[1], numbers[2])
    guard description == text, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
  }

  package var description: String { "\(major).\(minor).\(patch)" }

  fileprivate static let shape = Shape.anyText.map(
    { CorpusVersion($0) }, "must be a version like 1.0.0", back: { $0.description })
}

/// Every id that a corpus ever had, with its meaning: `ids.json` in the suite. An id's meaning is the protocol and the
/// verdict with its codes. The meaning never changes. A retired id is not used again.
package struct CorpusLedger: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    /// The first version with the id.
    package var since: CorpusVersion
    /// The first version without the id; nil if the id is in use.
    package var until: CorpusVersion?
    /// For example `proximity accepted`, `vical rejected: trust.list.expired`.
    package var meaning: String

    package init(since: CorpusVersion, until: CorpusVersion? = nil, meaning: String) {
      (self.since, self.until, self.meaning) = (since, until, meaning)
    }

    package static let shape = Shape<Entry>.form(
      "id", from: Entry(since: CorpusVersion(), meaning: ""), Member("since", \.since, CorpusVersion.shape),
      .ifAny("until", \.until, CorpusVersion.shape), Member("means", \.meaning, .nonEmpty))
  }

  package static let fileName = "ids.json"
  /// The version of the files' format. The version increases if a reader of the previous format misreads a vector.
  package static let schemaVersion: Int64 = 1

  package var version: CorpusVersion
  /// True until the version is released. Until then, the version's new cases may change or be removed.
  package var isOpen = false
  package var entries: [String: Entry] = [:]

  package init(version: CorpusVersion) { self.version = version }

}

extension TestVector {
  /// The id's meaning for the ledger.
  package var meaning: String {
    let verdict = expectation.isAccepted ? "accepted" : "rejected: " + expectation.codes.joined(separator: " ")
    return "\(session.protocolName) \(verdict)"
  }
}

// MARK: The file

extension CorpusLedger {
  init(json: JSON) throws(VectorError) { self = try Self.shape.parsed(json) }

  private static let shape = Shape<CorpusLedger>.form(
    "ledger", from: CorpusLedger(version: CorpusVersion()),
    Member(derived: "schema_version", { _ in schemaVersion }, schemaVersionShape),
    Member("version", \.version, CorpusVersion.shape), .ifAny("open", \.isOpen, .flag),
    Member(
      "ids", \.entries,
      Entry.shape.byName("must be a non-empty object").parsed { ids, _, _ in
        Dictionary(ids.map { ($0.name, $0.value) }) { first, _ in first }
      }))

  static let schemaVersionShape = Shape.anyInteger.checked(
    "must be \(schemaVersion), the only supported version"
  ) { $0 == schemaVersion }

  /// The ledger of a folder; nil if the folder has no ledger.
  package init?(in folder: SuiteFolder) throws(SuiteError) {
    guard folder.has(Self.fileName) else { return nil }
    let json = try folder.json(Self.fileName)
    self = try SuiteError.inFile("\(folder.path)/\(Self.fileName)") { () throws(VectorError) in
      try CorpusLedger(json: json)
    }
  }
}

// MARK: Versions

extension CorpusLedger {
  /// Differences between a suite's cases and the ledger.
  package struct Differences: Sendable, Hashable {
    package var added: [String] = []
    package var missing: [String] = []
    /// Ids with a changed meaning.
    package var changed: [String] = []
    /// Retired ids that are used again.
    package var reused: [String] = []

    package var isEmpty: Bool { self == Differences() }

    /// The findings of a lint, by id.
    var findings: [(id: String, problem: String)] {
      added.map { ($0, "is not in \(fileName); run CorpusProgram release to add it") }
        + missing.map { ($0, "is in \(fileName) but not in the suite; run CorpusProgram release to retire it") }
        + changed.map { ($0, "has a new meaning; give it a new id") }
        + reused.map { ($0, "has a retired id: choose a new one") }
    }
  }

  package func differences(from meanings: [String: String]) -> Differences {
    var found = Differences()
    for (id, meaning) in meanings.sorted(by: { $0.key < $1.key }) {
      guard let entry = entries[id] else {
        found.added.append(id)
        continue
      }
      if entry.until != nil { found.reused.append(id) } else if entry.meaning != meaning { found.changed.append(id) }
    }
    found.missing = entries.filter { $0.value.until == nil && meanings[$0.key] == nil }.keys.sorted()
    return found
  }
}
