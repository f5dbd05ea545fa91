/// A published set whose protocol is not built so far: its files are named as skipped, so that no report looks more
/// complete than it is.
struct LaterSet: PublishedSet {
  let name: String
  /// The files that will be judged.
  let files: [String]
  let reason: String

  static let all: [any PublishedSet] = [
    LaterSet(
      name: "iso18013-7-annexC",
      files: [
        "ANNEXC-DETERMINISTIC-001.json", "eu-av-profile-example.json", "eu-av-transcript-example.json",
        "vck-iso-response.json", "vck-signed-response.json",
      ],
      reason: "the Digital Credentials API of ISO/IEC TS 18013-7, Annex C is not built"),
    LaterSet(
      name: "apple-dcapi", files: ["apple-doc-sample-request.json"],
      reason: "the Digital Credentials API of ISO/IEC TS 18013-7, Annex C is not built"),
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
  fileprivate static func skipped(_ id: String, _ reason: String) -> PublishedCase {
    PublishedCase(
      part: "", id: id, description: "Not judged.", reference: "None", flag: .control, expectation: .either,
      judge: { .skipped(reason) })
  }
}
