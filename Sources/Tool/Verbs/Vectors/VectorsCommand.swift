import Vectors

/// `mdoc vectors`: the corpus of right and wrong answers, run against this verifier or another.
enum VectorsCommand {
  static let command = Command(
    "vectors", "hold a verifier to the corpus of right and wrong answers",
    verbs: [VectorsRun.command, VectorsList.command, VectorsLint.command, VectorsServeHarness.command])

  static func suite(_ arguments: ParsedArguments) throws(Failure) -> VectorSuite {
    let path = try arguments.required(.suite)
    do throws(SuiteError) {
      return try VectorSuite(at: path)
    } catch {
      throw .unreadable(error.description)
    }
  }
}

extension Option {
  static let suite = Option("suite", "DIR", "the folder of vectors", fallback: "TestVectors")
  static let filter = Option("filter", "ID", "only cases whose id contains this")
}
