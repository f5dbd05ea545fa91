import App
import Base
import CorpusMaking
import Cryptography
import FoundationEssentials
import TestSupport
import Testing
import Vectors

@testable import MdocTool

/// `mdoc vectors`, and releases of the corpus.
@Suite struct VectorVerbTests {
  private static let suite =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/TestVectors"
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func runPrintsCountsByGroupAndWritesReports() async throws {
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--filter", "device", "--junit", scratch("j.xml"), "--html",
      scratch("h.html"), "--json", scratch("r.json"))
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.contains("device-auth") && run.output.contains("PASSED") && run.output.contains("0 failed"))
    #expect(String(decoding: scratch.read("j.xml"), as: UTF8.self).hasPrefix("<?xml"))
    #expect(String(decoding: scratch.read("h.html"), as: UTF8.self).hasPrefix("<!doctype html>"))
    let json = try JSON(parsing: scratch.read("r.json"))
    #expect(json["count"]?["failed"] == 0)
    #expect(json["results"]?.array?.count == json["count"]?["total"]?.integer.map { Int($0) })
  }

  /// In a separate process, where nothing else takes memory. A sanitizer keeps what is freed, and its own notes.
  @Test(
    .enabled(if: ServerProcess.program != nil, "the program was not built"),
    .enabled(if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil, "memory is a sanitizer's"))
  func abuseCostsNoMoreThanIsAllowed() throws {
    let report = scratch("r.json")
    for filter in ["cbor-", "body-", "chain-", "signer-1-megabyte", "portrait", "issuer-auth-many"] {
      let arguments = ["vectors", "run", "--suite", Self.suite, "--filter", filter, "--measure", "--json", report]
      #expect(try ServerProcess.exitStatus(of: arguments) == 0, "\(filter)")
      let results = try #require(try JSON(parsing: scratch.read("r.json"))["results"]?.array)
      for result in results where result["outcome"] != "skipped" {
        let memory = result["measured"]?["peak_memory_bytes"]?.integer
        // Not known where the kernel was built without the counters.
        #expect(memory ?? 0 <= Limits.verificationMemoryBytes, "\(result["id"]?.string ?? "")")
        #expect(result["measured"]?["processor_microseconds"]?.integer ?? 0 > 0)
      }
    }
  }

  @Test func onlyThisVerifierAndThisLayoutAreMeasured() async throws {
    let run = await Run("vectors", "run", "--suite", Self.suite, "--measure", "--against", "http://127.0.0.1:1/")
    #expect(run.status == 64)
  }

  @Test func aWrongExpectationFailsTheRun() async throws {
    try FileManager.default.createDirectory(atPath: scratch("s/controls"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: Self.suite + "/anchors", toPath: scratch("s/anchors"))
    let good = try #require(FileManager.default.contents(atPath: Self.suite + "/controls/good.json"))
    let text = String(decoding: good, as: UTF8.self)
      .replacing("\"stage\": \"accepted\"", with: "\"stage\": \"authenticate\"")
      .replacing("\"codes\": []", with: "\"codes\": [\"mdoc.digest.mismatch\"]")
    try scratch.write("s/controls/good.json", text)
    let run = await Run("vectors", "run", "--suite", scratch("s"))
    #expect(run.status == 1)
    #expect(run.output.contains("accepted, expected refusal with mdoc.digest.mismatch"))
  }

  @Test func suitesThatCannotBeReadAreTheCallersFault() async throws {
    #expect(await Run("vectors", "run", "--suite", scratch("absent")).status == 65)
    #expect(await Run("vectors", "lint", "--suite", scratch("absent")).status == 65)
    #expect(await Run("vectors", "list", "--suite", scratch.path).status == 65)
    #expect(await Run("vectors", "run", "--suite", Self.suite, "--filter", "no such id").status == 64)
    #expect(await Run("vectors", "run", "--suite", Self.suite, "--against", "ftp://x").status == 64)
  }

  @Test func listAndLintSeeTheWholeCorpus() async throws {
    let list = try #require(try await Run("vectors", "list", "--suite", Self.suite, "--json").json().array)
    #expect(list.count > 350)
    #expect(list.allSatisfy { $0["stage"]?.string != nil && $0["reference"]?.string?.isEmpty == false })
    let lint = await Run("vectors", "lint", "--suite", Self.suite)
    #expect(lint.status == 0)
    #expect(lint.output.contains("\(list.count) vectors, 0 findings"))
    let json = try await Run("vectors", "lint", "--suite", Self.suite, "--json").json()
    #expect(json == ["vectors": .integer(Int64(list.count)), "findings": []])
    #expect(await Run("vectors", "list", "--suite", Self.suite, "--filter", "device-mac").output.contains("device-mac"))
  }

  @Test func regenerationWritesWhatLintAccepts() async throws {
    let made = try Regeneration(of: CorpusMaker(seed: [1, 2]), into: scratch("v"))
    #expect(made.written.count > 350)
    #expect(await Run("vectors", "lint", "--suite", scratch("v")).status == 0)
    #expect(await Run("vectors", "run", "--suite", scratch("v"), "--filter", "element").status == 0)
  }

  /// Our verifier, run against the corpus like any other, over the harness.
  @Test func oneRunDrivesAnotherVerifierOverHTTP() async throws {
    let server = try VectorsServeHarness.start(ListenAddress(address: "127.0.0.1", port: 0))
    let url = "http://127.0.0.1:\(server.port)/verdict"
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--against", url, "--without", "large-input", "--without",
      "zero-knowledge", "--json", scratch("r.json"))
    await server.stop(drainSeconds: 1)
    #expect(run.status == 0, "\(run.output.suffix(2_000))")
    let json = try JSON(parsing: scratch.read("r.json"))
    #expect(json["verifier"]?.string == url)
    #expect(json["count"]?["passed"]?.integer ?? 0 > 350)
  }

  @Test func aHarnessThatIsNotThereIsOneMessageAndNoFailureOfACase() async throws {
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--against", "http://127.0.0.1:1/", "--filter", "good", "--json",
      scratch("r.json"))
    #expect(run.status == 75)
    #expect(run.error == "mdoc: no connection to 127.0.0.1 port 1: no case was judged\n")
    #expect(run.output.isEmpty && scratch.read("r.json").isEmpty)
  }

  @Test func aHarnessThatDiesIsOneMessageThatNamesTheCase() async throws {
    let reply = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"verdict\": \"accepted\"}"
    let harness = try ScriptedListener(replies: [reply, nil])
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--against", harness.url, "--filter", "device-mac", "--html",
      scratch("r.html"))
    #expect(run.status == 75)
    #expect(run.hasOneLineOfError, "\(run.error)")
    #expect(run.error.contains("the harness closed the connection at case device-mac"), "\(run.error)")
    #expect(run.error.contains("after 1 of "), "\(run.error)")
    #expect(run.output.isEmpty && scratch.read("r.html").isEmpty)
  }

  @Test func aHarnessThatIsSilentCountsAsGone() async throws {
    let harness = try ScriptedListener(replies: [])
    let client = try #require(HarnessClient(harness.url, patience: 1))
    let suite = try VectorSuite(at: Self.suite)
    let error = await #expect(throws: VerdictError.self) {
      try await client.judge(suite.entries[0].vector, anchors: suite.anchors)
    }
    guard case .gone("the harness gave no reply in 1 s") = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func anUnknownFeatureIsRefusedWithTheKnownOnes() async throws {
    let run = await Run("vectors", "run", "--suite", Self.suite, "--without", "device-mc")
    #expect(run.status == 64)
    #expect(run.hasOneLineOfError)
    #expect(run.error.contains("there is no feature device-mc; did you mean device-mac?"))
    for name in ["apple-in-app", "zero-knowledge", "longfellow-v7-1", "vical", "large-input"] {
      #expect(run.error.contains(name), "\(name)")
    }
  }

  @Test func featuresThatAVerifierLacksAreSkipped() async throws {
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--filter", "good", "--without", "apple-in-app", "--without",
      "strict-policy")
    #expect(run.status == 0)
    // Two in-app cases, and the proofs, whose circuits are missing here.
    #expect(run.output.contains("5 skipped"))
  }

  @Test(.enabled(if: ServerProcess.program != nil, "the program was not built"))
  func oneRunDrivesAnotherVerifierLineByLine() async throws {
    let ours = "\(ServerProcess.program ?? "") vectors serve-harness --stdio"
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--exec", ours, "--filter", "device-", "--json", scratch("r.json"))
    #expect(run.status == 0, "\(run.output.suffix(2_000))")
    let json = try JSON(parsing: scratch.read("r.json"))
    #expect(json["verifier"]?.string?.hasPrefix("mdoc ") == true)
    #expect(json["description"]?["language"]?.string == "Swift")
    #expect(json["count"]?["passed"]?.integer ?? 0 > 80 && json["count"]?["failed"] == 0)
    // Its codes are compared too.
    let results = json["results"]?.array?.filter { $0["outcome"] == "passed" } ?? []
    #expect(results.allSatisfy { $0["observed"]?.array == $0["expected"]?.array })
  }

  /// A verifier that accepts everything.
  private func lenient() throws -> String {
    let path = try scratch.write(
      "lenient.sh",
      """
      while read -r line; do
        id=$(printf '%s' "$line" | cut -c 8-23)
        case "$line" in
          *describe*) echo '{"name": "lenient", "profiles": ["core"]}' ;;
          *) echo "{\\"id\\": \\"$id\\", \\"verdict\\": \\"accepted\\"}" ;;
        esac
      done
      """)
    return "sh \(path)"
  }

  @Test func rulesLeftToTheCallerAreNoFailures() async throws {
    let rules = ["acceptance", "minimum-age"].flatMap { ["--leaves", $0] }
    let asked = ["vectors", "run", "--suite", Self.suite, "--exec", try lenient(), "--filter"]
    for id in ["age-contradictory", "minimum-age-not-reached"] {
      #expect(await Run(asked + [id]).status == 1)
      let run = await Run(asked + [id] + rules)
      #expect(run.output.contains("0 failed, 1 skipped") && run.output.contains("the caller's rule: "), "\(run.output)")
    }
    #expect(await Run(asked + ["good", "--leaves", "strictness"]).status == 64)
  }

  @Test func aMatrixHasTheNamedProfilesOfThoseThatAreClaimed() async throws {
    let run = await Run(
      "vectors", "matrix", "--suite", Self.suite, "--filter", "good", "--profile", "core", "--profile", "apple",
      "--verifier", try lenient(), "--json", scratch("m.json"))
    #expect(run.status == 0, "\(run.error)")
    let verifiers = try JSON(parsing: scratch.read("m.json"))["verifiers"]?.array ?? []
    // Ours judges good, device-mac-good, strict-good and good-in-app; the other claims only core.
    #expect(verifiers.compactMap { $0["judged"]?.integer } == [4, 3])
  }

  @Test func whatIsKnownToFailFailsNoRun() async throws {
    let command = try lenient()
    let asked = ["vectors", "run", "--suite", Self.suite, "--filter", "element-", "--exec", command]
    #expect(await Run(asked + ["--write-expected-failures", scratch("f")]).status == 1)
    let run = await Run(asked + ["--expected-failures", scratch("f")])
    #expect(run.status == 0 && run.output.contains(" failed as expected, "), "\(run.output)")
    try scratch.write("g", String(decoding: scratch.read("f"), as: UTF8.self) + "good  # once\n")
    #expect(await Run(asked + ["--expected-failures", scratch("g")]).status == 0, "what is not asked is not judged")
    let narrow = await Run(
      "vectors", "run", "--suite", Self.suite, "--filter", "good", "--exec", command, "--expected-failures",
      scratch("g"))
    #expect(narrow.status == 1 && narrow.output.contains("remove it from the list"))
    // The digest of the list's ids may replace it, but another list's digest may not.
    let ids = String(decoding: scratch.read("f"), as: UTF8.self).split(separator: "\n").map {
      String($0.prefix { $0 != " " }) + "\n"
    }
    for (wanted, status) in [(ids, Int32(0)), (Array(ids.dropLast()), 1)] {
      let hex = Hex.encode(HashAlgorithm.sha256.hash(Array(wanted.joined().utf8)))
      try scratch.write("d", "sha256:\(hex)\n")
      let run = await Run(asked + ["--expected-failures", scratch("d")])
      #expect(run.status == status)
      #expect(run.output.contains("--write-expected-failures FILE to list them") == (status == 1))
    }
    try scratch.write("h", "no-such-case\n")
    let unknown = await Run(asked + ["--expected-failures", scratch("h")])
    #expect(unknown.status == 65 && unknown.error.contains("unknown case no-such-case"))
  }

  @Test func aVerifierIsJudgedForWhatItClaimsAlone() async throws {
    let run = await Run(
      "vectors", "run", "--suite", Self.suite, "--filter", "good", "--profile", "apple", "--json", scratch("r.json"))
    #expect(run.status == 0)
    let results = try JSON(parsing: scratch.read("r.json"))["results"]?.array ?? []
    let asked = results.filter { $0["outcome"] != "skipped" }.compactMap { $0["id"]?.string }
    #expect(asked.contains("good-in-app") && !asked.contains("good"))
    #expect(await Run("vectors", "run", "--suite", Self.suite, "--profile", "quantum").status == 64)
  }

  @Test func aCommandThatDoesNotStartIsOneMessage() async throws {
    let run = await Run("vectors", "run", "--suite", Self.suite, "--exec", "exit 9", "--filter", "good")
    #expect(run.status == 75 && run.hasOneLineOfError, "\(run.error)")
    #expect(run.error.contains("exit 9: crashed (exit status 9) before its first reply: no case was judged"))
    let file = await Run("vectors", "lint", "--suite", try scratch.write("one.json", "{}"))
    #expect(file.status == 65 && file.error.contains("name its folder"))
    for option in [["--against", "http://127.0.0.1:1/"], ["--measure"], ["--circuits", scratch.path]] {
      let run = await Run(["vectors", "run", "--suite", Self.suite, "--exec", "true"] + option)
      #expect(run.status == 64, "\(option)")
    }
  }

  @Test func aMatrixPutsVerifiersSideBySide() async throws {
    let run = await Run(
      "vectors", "matrix", "--suite", Self.suite, "--filter", "device-", "--verifier", try lenient(), "--html",
      scratch("m.html"), "--markdown", scratch("m.md"), "--json", scratch("m.json"))
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.contains(", 0 wrongly accepted, 0 wrongly refused, 0 without a verdict"))
    let json = try JSON(parsing: scratch.read("m.json"))
    #expect(json["verifiers"]?.array?.compactMap { $0["verifier"]?["name"]?.string } == ["mdoc", "lenient"])
    #expect(String(decoding: scratch.read("m.md"), as: UTF8.self).hasPrefix("# How verifiers do\n"))
    #expect(String(decoding: scratch.read("m.html"), as: UTF8.self).hasPrefix("<!doctype html>"))
  }

  @Test func aReleaseIsTheSameBytesEachTime() async throws {
    for folder in ["a", "b"] {
      let run = await Run("vectors", "pack", "--suite", Self.suite, "--out", scratch(folder), "--json")
      #expect(try run.json()["files"]?.array?.last == "mdoc-vectors.json")
      #expect(run.status == 0, "\(run.error)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch("a")).sorted()
    #expect(names.count == 2 && names[0].hasPrefix("mdoc-vectors-") && names[0].hasSuffix(".tar.gz"))
    #expect(names[1] == "mdoc-vectors.json")
    for name in names { #expect(scratch.read("a/\(name)") == scratch.read("b/\(name)"), "\(name)") }
    let packed = await Run("vectors", "run", "--suite", scratch("a/mdoc-vectors.json"), "--filter", "element-")
    #expect(packed.status == 0, "\(packed.output)")
    let changes = CorpusChanges(
      from: try VectorSuite(at: scratch("a/mdoc-vectors.json")), to: try VectorSuite(at: Self.suite))
    #expect(changes.markdown.contains("No case changed."))
  }

  @Test func whatIsNotInOrderIsNotReleased() async throws {
    _ = try Regeneration(of: CorpusMaker(), into: scratch("v"))
    let bare = await Run("vectors", "pack", "--suite", scratch("v"), "--out", scratch("out"))
    #expect(bare.status == 65 && bare.error.contains("ids.json"), "\(bare.error)")
    _ = try CorpusLedger.release("1.0.0", of: scratch("v"))
    #expect(await Run("vectors", "lint", "--suite", scratch("v")).status == 0)
    let unlicensed = await Run("vectors", "pack", "--suite", scratch("v"), "--out", scratch("out"))
    #expect(unlicensed.status == 65 && unlicensed.error.contains("README.md: is missing"), "\(unlicensed.error)")

    try FileManager.default.removeItem(atPath: scratch("v/items/element-twice.json"))
    let lint = await Run("vectors", "lint", "--suite", scratch("v"))
    #expect(lint.status == 1 && lint.output.contains("element-twice: is in ids.json but not in the suite"))
    let minor = #expect(throws: ReleaseError.self) { try CorpusLedger.release("1.1.0", of: scratch("v")) }
    #expect(minor?.description == "element-twice is gone: the next version is 2.0.0")
    #expect(try CorpusLedger.release("2.0.0", of: scratch("v")).contains("1 retired"))
    #expect(await Run("vectors", "lint", "--suite", scratch("v")).status == 0)
    #expect(throws: ReleaseError.self) { try CorpusLedger.release("2", of: scratch("v")) }
  }
}
