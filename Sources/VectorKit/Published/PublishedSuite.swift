import Primitives

/// Sets that others published, in the layouts in which they published them: run like the corpus, by our verifier.
public enum PublishedSuite {
  /// The results of a folder in a layout that is known here, or nil where it is none.
  ///
  /// - Throws: where the layout is known and a file of it can't be read.
  public static func run(at path: String, filter: String?) throws(SuiteError) -> RunReport? {
    let folder = SuiteFolder(path)
    let clock = ContinuousClock()
    let start = clock.now
    let results: [VectorResult]
    if WycheproofSuite.isHere(folder) {
      results = try WycheproofSuite.results(in: folder, filter: filter)
    } else if AnnexDSuite.isHere(folder) {
      results = try AnnexDSuite.results(in: folder, filter: filter)
    } else {
      return nil
    }
    return RunReport(subject: "mdoc", suite: folder.path, results: results, duration: (clock.now - start).seconds)
  }

  /// A case in the shape of the corpus, for reports.
  static func vector(
    _ id: String, _ description: String, reference: String, flag: VectorFlag, isAccepted: Bool
  ) -> TestVector {
    TestVector(
      id: id, description: description, reference: reference, cases: [], flags: [flag], importance: .must,
      features: [], validationTime: Timestamp(secondsSince1970: 0),
      session: .proximity(.init(transcript: [], readerKey: nil)), request: .null, trustAnchors: [],
      policy: VectorPolicy(), input: VectorInput(parts: [.init([])]),
      expectation: VectorExpectation(stage: isAccepted ? .accepted : .authenticate))
  }
}
