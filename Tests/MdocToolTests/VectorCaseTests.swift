import Base
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import Vectors

@testable import MdocTool

/// `mdoc vectors show` and `mdoc vectors extract`: one case at a time.
@Suite struct VectorCaseTests {
  private static let path = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/TestVectors"
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  // MARK: show

  private func shown(_ id: String, _ more: String...) async throws -> JSON {
    try await Run(["vectors", "show", id, "--suite", Self.path, "--json"] + more).json()
  }

  @Test func showSaysWhatIsWrongAndWhere() async throws {
    let run = await Run("vectors", "show", "mso-version-integer", "--suite", Self.path)
    #expect(run.status == 0)
    for text in [
      "The MSO's version is a number.", "ISO/IEC 18013-5:2021, 9.1.2.4", "MsoMalformed, parser_differential",
      "Must say   refused at authenticate with mdoc.mso.malformed", "as expected",
      "documents[0].issuerSigned.issuerAuth[2].version\n    - \"1.0\"\n    + 1\n",
      "FAILED   mdoc.mso.malformed",
    ] {
      #expect(run.output.contains(text), "\(text)\n\(run.output)")
    }
    #expect(!run.output.contains("passed   mdoc.mso.missing"))
    let full = await Run("vectors", "show", "mso-version-integer", "--suite", Self.path, "--all")
    #expect(full.output.contains("passed   mdoc.mso.missing") && full.output.contains("\"deviceAuth\": {"))
  }

  @Test(
    arguments: [
      ("element-twice", "good", "documents[0].issuerSigned.nameSpaces[\"org.iso.18013.5.1\"][8].elementIdentifier"),
      ("clock-past-valid-until-and-skew", "good", "validation_time"),
      ("apple-algorithm-absent", "good-in-app", "algorithm"),
      ("annex-c-enc-64-bytes", "annex-c-good", "[1].enc"),
      ("jwe-alg-rsa-oaep", "openid4vp-good", "alg"),
      ("vical-bad-signature", "vical-good", "[3]"),
      ("lote-bad-date", "lote", "LoTE.ListAndSchemeInformation.ListIssueDateTime"),
      ("cbor-trailing-after-response", "good", "its bytes"),
      ("zk-other-session", "zk-good", "session.transcript[0]{1}[1]{-2}"),
    ])
  func aCaseIsComparedWithARightOneOfItsProtocol(id: String, right: String, path: String) async throws {
    let json = try await shown(id)
    #expect(json["compared_with"]?.string == right)
    let paths = json["differences"]?.array?.compactMap { $0["path"]?.string } ?? []
    #expect(paths.contains(path), "\(paths)")
  }

  @Test func aRightCaseIsShownDecoded() async throws {
    let run = await Run("vectors", "show", "annex-c-good", "--suite", Self.path)
    #expect(run.output.contains("EncryptedResponse\n[") && run.output.contains("Decrypted content\n{"))
    #expect(try await shown("annex-c-good")["compared_with"]?.isNull == true)
  }

  /// The run's verdict on every case.
  @Test func theJSONHasBothVerdictsAndEveryCheck() async throws {
    let json = try await shown("element-twice")
    #expect(json["expected"]?["codes"] == ["mdoc.element.duplicate"] && json["got"] == json["expected"])
    #expect(json["as_expected"] == true)
    let checks = json["checks"]?.array?.flatMap { $0["checks"]?.array ?? [] } ?? []
    #expect(checks.count > 90)
    #expect(checks.filter { $0["outcome"] == "failed" }.map { $0["code"]?.string } == ["mdoc.element.duplicate"])
  }

  @Test func aProofWithoutItsCircuitIsShownAndNotJudged() async throws {
    let json = try await shown("zk-good")
    #expect(json["got"]?.isNull == true && json["as_expected"]?.isNull == true)
    let run = await Run("vectors", "show", "zk-good", "--suite", Self.path)
    #expect(run.output.contains("not judged here: needs longfellow-v7-1 (--circuits)"))
  }

  @Test func aHarnessesIDIsLookedUp() async throws {
    let vector = try #require(try VectorSuite(at: Self.path).entry("element-twice")?.vector)
    #expect(try await shown(vector.askedID)["id"] == "element-twice")
  }

  @Test(arguments: ["show", "extract"])
  func anUnknownIDIsAUsageErrorThatNamesNearOnes(verb: String) async {
    let folder = verb == "extract" ? [scratch("x")] : []
    let run = await Run(["vectors", verb, "element-twic", "--suite", Self.path] + folder)
    #expect(run.status == 64 && run.hasOneLineOfError)
    #expect(run.error.contains("unknown case element-twic; did you mean element-twice"))
    #expect(await Run(["vectors", verb, "qqqqqqqq", "--suite", Self.path] + folder).error.contains("vectors list"))
    #expect(!FileAccess.exists(scratch("x")))
  }

  // MARK: extract

  @Test func extractRefusesAFolderThatIsThere() async throws {
    let first = await Run("vectors", "extract", "element-twice", scratch("case"), "--suite", Self.path, "--json")
    #expect(first.status == 0, "\(first.error)")
    let json = try first.json()
    #expect(json["files"]?.array?.contains("README.txt") == true)
    #expect(json["command"]?.string?.hasPrefix("mdoc verify ") == true)
    let before = scratch.read("case/README.txt")
    let second = await Run("vectors", "extract", "good", scratch("case"), "--suite", Self.path)
    #expect(second.status == 65 && second.error.contains("exists already; nothing was written"))
    #expect(scratch.read("case/README.txt") == before)
    #expect(await Run("vectors", "extract", "good", "--suite", Self.path).status == 64)
  }

  /// Cases that no command can judge say so.
  @Test(
    arguments: [
      ("annex-c-good", "org-iso-mdoc"), ("trust-store-empty", "--trust needs one"),
      ("mock-root-in-live-mode", "for live mode"), ("document-vical-good", "not from a list"),
      ("vical-good-again", "not remember earlier lists"), ("vical-tagged", "as a list"),
    ])
  func whatTheCommandLineCannotSayIsSaid(id: String, reason: String) throws {
    let suite = try VectorSuite(at: Self.path)
    let vector = try #require(suite.entry(id)?.vector)
    let extracted = ExtractedCase(vector, in: suite)
    let readme = String(decoding: extracted.files.last?.bytes ?? [], as: UTF8.self).replacing("\n", with: " ")
    #expect(readme.contains("cannot judge this case") && readme.contains(reason), "\(readme)")
    #expect(extracted.command.isEmpty && !readme.contains("To judge it, in"))
    #expect(readme.contains("curl --data-binary @question.json"))
  }

  /// The command of the README, run by a shell in the folder, for some cases of each group; with `MDOC_EXHAUSTIVE` for
  /// all of them.
  @Test(.enabled(if: ServerProcess.program != nil, "the program was not built"))
  func thePrintedCommandComesToTheExpectedVerdict() throws {
    let suite = try VectorSuite(at: Self.path)
    let step = ProcessInfo.processInfo.environment["MDOC_EXHAUSTIVE"] == nil ? 13 : 1
    let circuits = PublishedVectors.folder + "/longfellow/circuits"
    var judged: [String: Int] = [:]
    for (index, entry) in suite.entries.enumerated() where index % step == 0 {
      let vector = entry.vector
      let extracted = ExtractedCase(vector, in: suite)
      guard extracted.obstacle == nil, entry.group != "zero-knowledge" || PublishedVectors.areHere else { continue }
      let folder = scratch(vector.id)
      try VectorsExtract.write(extracted.files, to: folder)
      let command = try #require(
        Self.command(in: String(decoding: scratch.read("\(vector.id)/README.txt"), as: UTF8.self)))
      let program = try #require(ServerProcess.program)
      let call = "'\(program)'" + command.dropFirst("mdoc".count) + " --json > out.json 2> error.txt"
      let script = "cd '\(folder)' && CIRCUITS='\(circuits)' && \(call)"
      let status = try ServerProcess.exitStatus(of: ["-c", script], program: "/bin/sh")
      #expect(vector.expectation.isAccepted ? status == 0 || status == 3 : status == 1, "\(vector.id): \(status)")
      let json = try? JSON(parsing: scratch.read("\(vector.id)/out.json"))
      #expect(Self.codes(json) == Set(vector.expectation.codes), "\(vector.id)")
      judged[entry.group, default: 0] += 1
    }
    #expect(judged.count >= 12, "\(judged)")
  }

  private static func command(in readme: String) -> String? {
    guard let start = readme.firstRange(of: "    mdoc "), let end = readme[start.upperBound...].firstRange(of: "\n\n")
    else { return nil }
    return "mdoc " + readme[start.upperBound..<end.lowerBound].replacing("\\\n", with: "")
  }

  /// The codes of the failed checks of a report, or of a shown list.
  private static func codes(_ json: JSON?) -> Set<String> {
    let report = json?["report"] ?? json
    let checks = [report].compactMap { $0 } + (report?["documents"]?.array ?? [])
    return Set(
      checks.flatMap { $0["checks"]?.array ?? [] }.filter { $0["outcome"] == "failed" }
        .compactMap { $0["code"]?.string })
  }
}
