/// A published set that cannot be judged: its files are named as skipped, so that no report looks more complete than it
/// is.
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

/// A folder among published sets in a layout that is not known here.
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
