import Base
import CorpusMaking
import FoundationEssentials
import Mdoc
import Vectors

/// A set of vectors that others published, in its published layout. To add a set, write a type that conforms to this
/// protocol and list it in `PublishedSuite.sets`; if `LaterSet` has a row for it, remove that row.
protocol PublishedSet: Sendable {
  /// The set's name. The ids of its cases begin with it.
  var name: String { get }

  /// Whether the folder holds the set, judged by the names of its files.
  func isHere(_ folder: SuiteFolder) -> Bool

  /// - Throws: `SuiteError` if a file of the set cannot be read.
  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase]
}

/// One case of a published set, with its judge.
struct PublishedCase {
  /// The result of judging a case.
  enum Finding {
    case accepted
    /// Refused with these codes; empty if the check has none.
    case refused([Code] = [])
    /// There is an output, but not the right one. The text says what is wrong.
    case other(String)
    /// The case cannot be judged. The text says why.
    case skipped(String)

    init(isAccepted: Bool) { self = isAccepted ? .accepted : .refused() }
  }

  /// The part of the set that the case belongs to: a file, or a folder of files.
  var part: String
  /// Unique within the part.
  var id: String
  var description: String
  var reference: String
  var flag: VectorFlag
  var expectation: CaseSummary.Expectation
  var judge: () -> Finding

  /// Judges the case. If codes are expected, the result must have exactly these.
  func result(in set: String, group: String) -> VectorResult {
    let clock = ContinuousClock()
    let start = clock.now
    let finding = judge()
    return VectorResult(
      of: summary(in: set), in: group, outcome(of: finding), judgement(on: finding),
      seconds: (clock.now - start) / .seconds(1))
  }

  func fullID(in set: String) -> String { [set, part, id].filter { !$0.isEmpty }.joined(separator: "/") }

  private func summary(in set: String) -> CaseSummary {
    CaseSummary(
      id: fullID(in: set), description: description, reference: reference, flag: flag, expectation: expectation)
  }

  private func outcome(of finding: Finding) -> VectorResult.Outcome {
    switch (finding, expectation) {
    case (.skipped(let reason), _): .skipped(reason)
    case (.other(let problem), _): .failed(problem)
    case (_, .either), (.accepted, .accepted): .passed
    case (.accepted, .refused): .failed("accepted and should be \(expectation.text)")
    case (.refused(let codes), .refused(let expected)):
      expected.isEmpty || Set(expected) == Set(codes.map(\.rawValue))
        ? .passed : .failed("\(Self.text(codes)) and should be \(expectation.text)")
    case (.refused(let codes), .accepted): .failed("\(Self.text(codes)) and should be accepted")
    }
  }

  private func judgement(on finding: Finding) -> Judgement? {
    switch finding {
    case .accepted: Judgement(isAccepted: true, codes: [])
    case .refused(let codes): Judgement(isAccepted: false, codes: codes.map(\.rawValue))
    case .other, .skipped: nil
    }
  }

  private static func text(_ codes: [Code]) -> String {
    CaseSummary.Expectation.refused(codes.map(\.rawValue)).text
  }
}

extension PublishedCase {
  /// A case of a response or a certificate chain. It must be accepted if `codes` is empty, otherwise refused with
  /// exactly these codes.
  init(_ id: String, _ description: String, reference: String, codes: [Code], judge: @escaping () -> Finding) {
    self.init(
      part: "", id: id, description: description, reference: reference,
      flag: codes.first.map(VectorFlag.ofMissing) ?? .control,
      expectation: codes.isEmpty ? .accepted : .refused(codes.map(\.rawValue)), judge: judge)
  }
}

extension PublishedCase.Finding {
  /// - Parameter elements: the number of elements in the published response, over all documents.
  static func ofVerdict(_ verdict: Verdict, elements: Int) -> Self {
    switch verdict.outcome {
    case .refused(let reasons): return .refused(reasons.map(\.code))
    case .accepted(let presentation):
      let count = presentation.documents.reduce(0) { $0 + $1.elements.count }
      return count == elements ? .accepted : .other("accepted with \(count) elements in place of \(elements)")
    }
  }
}

/// Runs sets that others published, in their published layouts, against our verifier.
package enum PublishedSuite {
  /// All known sets. The first set that finds itself in a folder gets the folder.
  static let sets: [any PublishedSet] =
    [
      WycheproofSet(), AnnexDSet(), AppleInAppSet(), HPKESet(), AppendixASet(), COSESet(), BrainpoolSet(), ChainSet(),
      VICALSet(), TrustedEntityListSet(), StatusListSet(), AnnexBSet(), AnnexCSet(), OpenID4VPSet(),
      LimboSet(),
    ] + LaterSet.all

  /// The results of a folder that holds a known set, or of a folder of such folders; nil if it is neither.
  ///
  /// - Throws: `SuiteError` if the set is known but a file of it cannot be read.
  package static func run(at path: String, filter: String?) throws(SuiteError) -> RunReport? {
    let folder = SuiteFolder(path)
    let date = Timestamp.now
    let clock = ContinuousClock()
    let start = clock.now
    guard let results = try results(in: folder, filter: filter) else { return nil }
    return RunReport(
      ofSetAt: folder.path, filter: filter, date: date, results: results, seconds: (clock.now - start) / .seconds(1))
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

/// A published set that cannot be judged. Its files are reported as skipped, so that no report looks more complete than
/// it is.
struct LaterSet: PublishedSet {
  let name: String
  let files: [String]
  let reason: String

  static let all: [any PublishedSet] = [
    LaterSet(
      name: "apple-dcapi", files: ["apple-doc-sample-request.json"],
      reason: "a request, whose origin is not published")
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { files.contains(where: folder.has) }

  func cases(in folder: SuiteFolder) -> [PublishedCase] { files.filter(folder.has).map { .skipped($0, reason) } }
}

/// A folder beside published sets whose layout is not known here.
struct UnknownSet: PublishedSet {
  let name: String

  func isHere(_ folder: SuiteFolder) -> Bool { true }

  func cases(in folder: SuiteFolder) -> [PublishedCase] { [.skipped("folder", "its layout is not known here")] }
}

extension PublishedCase {
  static func skipped(_ id: String, _ reason: String) -> PublishedCase {
    PublishedCase(
      part: "", id: id, description: "Not judged.", reference: "None", flag: .control, expectation: .either,
      judge: { .skipped(reason) })
  }
}

extension Timestamp {
  static var now: Timestamp { Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970.rounded(.down))) }
}
