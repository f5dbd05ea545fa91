import Base
import Vectors

extension CorpusVersion {
  package static func < (one: Self, other: Self) -> Bool {
    (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
  }

  static func > (one: Self, other: Self) -> Bool { other < one }
}

extension VectorSuite {
  /// The meanings of the ids.
  package var meanings: [String: String] {
    Dictionary(entries.map { ($0.vector.id, $0.vector.meaning) }) { first, _ in first }
  }
}

extension CorpusLedger {
  /// The last version that is closed; nil if there is none.
  private var closed: CorpusVersion? {
    guard isOpen else { return version }
    return entries.values.flatMap { [$0.since, $0.until ?? $0.since] }.filter { $0 < version }.max(by: <)
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
    for id in found.added { entries[id] = Entry(since: next, meaning: meanings[id] ?? "") }
    for id in found.missing { entries[id]?.until = next }
    version = next
    self.isOpen = isOpen
  }
}

extension CorpusLedger {
  /// The file's bytes: one id a line, so that a change shows what it changes.
  package var fileContent: [UInt8] {
    let lines = entries.sorted { $0.key < $1.key }.map { id, entry in
      "    \(JSON.string(id).text()): \(Entry.shape.write(entry).text())"
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

/// Why a version of a corpus can't be released.
package struct ReleaseError: Error, Sendable, CustomStringConvertible {
  package let description: String
}

extension CorpusLedger {
  /// Enters the ids of a folder's cases in its ledger, as of a version, and makes the ledger if there is none.
  ///
  /// - Returns: one line that says what was entered.
  /// - Throws: `SuiteError` if the folder can't be read or written, `ReleaseError` if it can't be that version.
  package static func release(_ text: String, of path: String, isOpen: Bool = false) throws -> String {
    guard let version = CorpusVersion(text) else {
      throw ReleaseError(description: "a version is like 1.1.0, not \"\(text)\"")
    }
    let meanings = try VectorSuite(at: path).meanings
    let folder = SuiteFolder(path)
    let former = try CorpusLedger(in: folder)
    let differences = former?.differences(from: meanings)
    if let former, let differences, let refusal = former.refusal(of: version, for: differences) {
      throw ReleaseError(description: refusal)
    }
    var ledger = former ?? CorpusLedger(version: version)
    ledger.release(version, meanings, isOpen: isOpen)
    try folder.write(ledger.fileContent, to: fileName)
    let added = differences?.added.count ?? meanings.count
    return "\(version): \(meanings.count) ids, \(added) new, \(differences?.missing.count ?? 0) retired"
  }
}
