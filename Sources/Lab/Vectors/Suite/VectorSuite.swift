import Base

/// The vectors of one folder, read and ready to be run.
package struct VectorSuite: Sendable {
  package struct Entry: Sendable {
    package let group: String
    package let vector: TestVector
  }

  package let folder: SuiteFolder
  package let entries: [Entry]
  package let anchors: SuiteAnchors

  /// - Throws: for the first file that is no vector, or an anchor that is none: a suite that runs in part would prove
  ///   less than it says.
  package init(at path: String) throws(SuiteError) {
    folder = SuiteFolder(path)
    var entries: [Entry] = []
    for file in try folder.vectorFiles() {
      entries.append(Entry(group: String(file.prefix { $0 != "/" }), vector: try Self.vector(folder, file)))
    }
    guard !entries.isEmpty else { throw SuiteError(path: path, problem: "holds no vectors") }
    self.entries = entries
    anchors = try SuiteAnchors(in: folder, named: Set(entries.flatMap(\.vector.namedAnchors)))
  }

  /// Groups in their order with the number of their vectors.
  package var groups: [(name: String, count: Int)] {
    Dictionary(grouping: entries, by: \.group).map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
      .map { (name: $0.0, count: $0.1) }
  }

  static func vector(_ folder: SuiteFolder, _ file: String) throws(SuiteError) -> TestVector {
    let json = try folder.json(file)
    do throws(VectorFault) {
      return try TestVector(json: json)
    } catch {
      throw SuiteError(path: "\(folder.path)/\(file)", problem: error.description)
    }
  }
}
