import Base

/// C2SP/wycheproof: each file by its schema, each test of it a case.
struct WycheproofSet: PublishedSet {
  let name = "wycheproof"

  private static let suffix = "_test.json"

  /// How the files of one schema are judged.
  struct Kind: Sendable {
    let schema: String
    let reference: String
    /// What a wrongly accepted test is good for.
    let bugClass: BugClass
    /// A group's judge: what the group's tests share is read once.
    let judge: @Sendable (_ group: JSON, _ algorithm: String) -> (_ test: JSON) -> PublishedCase.Finding
  }

  private static let kinds = WycheproofSignatures.kinds + WycheproofAgreement.kinds + WycheproofSymmetric.kinds

  func isHere(_ folder: SuiteFolder) -> Bool {
    (try? folder.files())?.contains { $0.hasSuffix(Self.suffix) } ?? false
  }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for file in try folder.files() where file.hasSuffix(Self.suffix) {
      let json = try folder.json(file)
      guard let schema = json["schema"]?.string, let groups = json["testGroups"]?.array else {
        throw SuiteError(path: "\(folder.path)/\(file)", problem: "is not Wycheproof's JSON")
      }
      let kind = Self.kinds.first { $0.schema == schema } ?? Self.unknown(schema)
      let part = String(file.dropLast(Self.suffix.count))
      for group in groups {
        let judge = kind.judge(group, json["algorithm"]?.string ?? "")
        cases += (group["tests"]?.array ?? []).map { test in Self.makeCase(part, kind, test) { judge(test) } }
      }
    }
    return cases
  }

  private static func makeCase(
    _ part: String, _ kind: Kind, _ test: JSON, judge: @escaping () -> PublishedCase.Finding
  ) -> PublishedCase {
    let expectation: CaseSummary.Expectation =
      switch test["result"]?.string {
      case "valid": .accepted
      case "acceptable": .either
      default: .refused([])
      }
    let comments = [test["comment"], test["name"]].compactMap { $0?.string }.filter { !$0.isEmpty }
    let flag = test["flags"]?.array?.first?.string ?? "Wycheproof"
    return PublishedCase(
      part: part, id: "\(test["tcId"]?.integer ?? 0)", description: (comments.first ?? "No comment") + ".",
      reference: kind.reference,
      flag: VectorFlag(flag, expectation == .accepted ? .interoperability : kind.bugClass), expectation: expectation,
      judge: judge)
  }

  /// What is not judged here. JOSE is read for one profile, and most tests are of others; those that are of it are tests
  /// of the module.
  private static func unknown(_ schema: String) -> Kind {
    let reason =
      schema.hasPrefix("json_web_")
      ? "JOSE is judged by the tests of its module" : "tests of the schema \(schema) are not known here"
    return Kind(schema: schema, reference: "None", bugClass: .forgery, judge: { _, _ in { _ in .skipped(reason) } })
  }
}

extension PublishedCase.Finding {
  /// Of an output that may be refused, but if it is given has to be the right one.
  init(output: [UInt8]?, right: [UInt8], of test: JSON) {
    // Of tests that are to be refused, any output is one too many.
    if let output, output != right, test["result"]?.string != "invalid" {
      self = .other("another output")
    } else {
      self.init(isAccepted: output != nil)
    }
  }
}
