import Base

/// A semantic version of a corpus: `major.minor.patch`.
package struct CorpusVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let major: Int
  package let minor: Int
  package let patch: Int

  /// Nil if the text is not three numbers with points between them.
  package init?(_ text: String) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else { return nil }
    (self.major, self.minor, self.patch) = (major, minor, patch)
    guard description == text, numbers.allSatisfy({ $0 ?? -1 >= 0 }) else { return nil }
  }

  package var description: String { "\(major).\(minor).\(patch)" }

  package static func < (one: Self, other: Self) -> Bool {
    (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
  }
}

/// Every id that a corpus has ever had, with what it means: `ids.json` in the suite.
///
/// An id keeps its meaning: the protocol of the case, and the verdict with its codes. One that is retired is not used
/// again. Bytes and descriptions may change.
package struct CorpusLedger: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    /// The version that had it first.
    package var since: CorpusVersion
    /// The first version without it; nil if it is in use.
    package var until: CorpusVersion?
    /// `proximity accepted`, `vical rejected: trust.list.expired`.
    package var meaning: String
  }

  package static let fileName = "ids.json"
  /// The version of the files' form. It rises when a reader of the former form would misread or refuse a vector.
  package static let schemaVersion: Int64 = 1

  package var version: CorpusVersion
  /// Whether the version is still being made. Until it is closed, cases that it has first may change and go.
  package var isOpen = false
  package var entries: [String: Entry]

  package init(version: CorpusVersion, entries: [String: Entry] = [:]) {
    self.version = version
    self.entries = entries
  }

  /// The ids that are in use.
  var current: [String: Entry] { entries.filter { $0.value.until == nil } }
}

extension TestVector {
  /// What the id means, for good.
  package var meaning: String {
    let verdict = expectation.isAccepted ? "accepted" : "rejected: " + expectation.codes.joined(separator: " ")
    return "\(session.protocolName) \(verdict)"
  }
}

// MARK: The file

extension CorpusLedger {
  init(json: JSON) throws(VectorFault) {
    let reader = MemberParser(json, at: "")
    guard try reader.integer("schema_version") == Self.schemaVersion else {
      throw reader.fault("schema_version", "is not \(Self.schemaVersion), which this program reads")
    }
    version = try Self.version(reader, "version")
    isOpen = json["open"]?.bool == true
    entries = [:]
    for member in try reader.value("ids").object ?? [] {
      let entry = MemberParser(member.value, at: "/ids/\(member.name)")
      entries[member.name] = Entry(
        since: try Self.version(entry, "since"),
        until: try entry.optional("until") == nil ? nil : Self.version(entry, "until"),
        meaning: try entry.string("means"))
    }
  }

  private static func version(_ reader: MemberParser, _ name: String) throws(VectorFault) -> CorpusVersion {
    guard let version = CorpusVersion(try reader.string(name)) else {
      throw reader.fault(name, "is no version like 1.0.0")
    }
    return version
  }

  /// The ledger of a folder; nil if it has none.
  ///
  /// - Throws: `SuiteError` if there is one that cannot be read.
  package init?(in folder: SuiteFolder) throws(SuiteError) {
    guard folder.has(Self.fileName) else { return nil }
    let json = try folder.json(Self.fileName)
    do throws(VectorFault) {
      try self.init(json: json)
    } catch {
      throw SuiteError(path: "\(folder.path)/\(Self.fileName)", problem: error.description)
    }
  }

  /// The file's bytes: one id a line, so that a change shows what it changes.
  package var fileContent: [UInt8] {
    let lines = entries.sorted { $0.key < $1.key }.map { id, entry in
      let json = JSON.members([
        "since": .string(entry.since.description), "until": entry.until.map { .string($0.description) },
        "means": .string(entry.meaning),
      ])
      return "    \(JSON.string(id).text()): \(json.text())"
    }
    let text = """
      {
        "schema_version": \(Self.schemaVersion),
        "version": "\(version)",\(isOpen ? "\n  \"open\": true," : "")
        "ids": {
      \(lines.joined(separator: ",\n"))
        }
      }

      """
    return Array(text.utf8)
  }
}

// MARK: Versions

extension CorpusLedger {
  /// How a suite's cases differ from the ledger.
  package struct Differences: Sendable, Hashable {
    package var added: [String] = []
    package var missing: [String] = []
    /// Ids with another meaning than they had.
    package var changed: [String] = []
    /// Ids that were retired and are used again.
    package var reused: [String] = []

    package var isEmpty: Bool { self == Differences() }

    /// The findings of a lint, by id.
    var findings: [(id: String, problem: String)] {
      added.map { ($0, "is not in \(fileName): mdoc vectors release enters it") }
        + missing.map { ($0, "is in \(fileName) and not in the suite: mdoc vectors release retires it") }
        + changed.map { ($0, "means something else than before: a new meaning needs a new id") }
        + reused.map { ($0, "was retired: its id is not used again") }
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
    found.missing = current.keys.filter { meanings[$0] == nil }.sorted()
    return found
  }

  /// The last version that is closed; nil if there is none.
  private var closed: CorpusVersion? {
    guard isOpen else { return version }
    return entries.values.flatMap { [$0.since, $0.until ?? $0.since] }.filter { $0 < version }.max()
  }

  /// Whether the id is only of the open version, so that it may still change or go.
  private func isUnbound(_ id: String) -> Bool { isOpen && entries[id]?.since == version }

  /// Why this suite can't be the next version; nil if it can.
  package func refusal(of next: CorpusVersion, for differences: Differences) -> String? {
    let missing = differences.missing.filter { !isUnbound($0) }
    if let id = differences.changed.first(where: { !isUnbound($0) }) {
      return "\(id) means something else than before: a new meaning needs a new id"
    }
    if let id = differences.reused.first { return "\(id) was retired: its id is not used again" }
    guard !isOpen || next == version else { return "\(version) is open: it is closed before \(next)" }
    guard let version = closed else { return nil }
    guard next > version else { return "the next version is above \(version), and \(next) is not" }
    if !missing.isEmpty, next.major == version.major {
      return "\(missing[0]) is gone: the next version is \(version.major + 1).0.0"
    }
    if !differences.added.isEmpty, next.major == version.major, next.minor == version.minor {
      return "\(differences.added[0]) is new: the next version is \(version.major).\(version.minor + 1).0"
    }
    return nil
  }

  /// Enters what is new and retires what is gone.
  ///
  /// - Parameter isOpen: whether the version is to be released again, with more.
  package mutating func release(_ next: CorpusVersion, _ meanings: [String: String], isOpen: Bool = false) {
    for id in entries.keys.filter(isUnbound) { entries[id] = nil }
    let found = differences(from: meanings)
    for id in found.added { entries[id] = Entry(since: next, until: nil, meaning: meanings[id] ?? "") }
    for id in found.missing { entries[id]?.until = next }
    version = next
    self.isOpen = isOpen
  }
}
