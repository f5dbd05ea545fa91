/// Sets that others published, in the layouts in which they published them: run like the corpus, by our verifier.
package enum PublishedSuite {
  /// In the order in which they are asked whether a folder is theirs.
  static let sets: [any PublishedSet] =
    [
      WycheproofSet(), AnnexDSet(), AppleInAppSet(), HPKESet(), AppendixASet(), COSESet(), BrainpoolSet(), ChainSet(),
      VICALSet(), TrustedEntityListSet(), StatusListSet(), AnnexBSet(), AnnexCSet(), OpenID4VPSet(),
    ] + LaterSet.all

  /// The results of a folder that holds a known set, or of a folder of such folders; nil where it is neither.
  ///
  /// - Throws: where a set is known and a file of it can't be read.
  package static func run(at path: String, filter: String?) throws(SuiteError) -> RunReport? {
    let folder = SuiteFolder(path)
    let clock = ContinuousClock()
    let start = clock.now
    guard let results = try results(in: folder, filter: filter) else { return nil }
    return RunReport(subject: "mdoc", suite: folder.path, results: results, duration: (clock.now - start).seconds)
  }

  private static func results(in folder: SuiteFolder, filter: String?) throws(SuiteError) -> [VectorResult]? {
    if let set = set(in: folder) { return try results(of: set, in: folder, filter) { $0.isEmpty ? set.name : $0 } }
    let folders = try folder.folders()
    guard folders.contains(where: { set(in: $0) != nil }) else { return nil }
    var all: [VectorResult] = []
    for folder in folders {
      all += try results(of: set(in: folder) ?? UnknownSet(name: folder.name), in: folder, filter) { _ in folder.name }
    }
    return all
  }

  private static func set(in folder: SuiteFolder) -> (any PublishedSet)? { sets.first { $0.isHere(folder) } }

  private static func results(
    of set: any PublishedSet, in folder: SuiteFolder, _ filter: String?, group: (_ part: String) -> String
  ) throws(SuiteError) -> [VectorResult] {
    var results: [VectorResult] = []
    for item in try set.cases(in: folder) where filter.map({ item.fullID(in: set.name).contains($0) }) ?? true {
      results.append(item.result(in: set.name, group: group(item.part)))
    }
    return results
  }
}
