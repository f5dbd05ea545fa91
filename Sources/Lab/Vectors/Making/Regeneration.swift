import Base

/// Writes the corpus into a folder, and removes vectors there that are not declared any more.
package struct Regeneration: Sendable {
  /// Paths below the folder.
  package let written: [String]
  package let removed: [String]
  package let bytes: Int

  package init(of maker: CorpusMaker, into path: String) throws {
    let folder = SuiteFolder(path)
    let files = try maker.files()
    for file in files { try folder.write(file.content, to: file.path) }
    let declared = Set(files.map(\.path))
    let stale = try folder.vectorFiles().filter { !declared.contains($0) }
    for file in stale { try folder.remove(file) }
    written = files.map(\.path)
    removed = stale
    bytes = files.reduce(0) { $0 + $1.content.count }
  }
}
