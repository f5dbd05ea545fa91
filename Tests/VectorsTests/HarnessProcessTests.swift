import Base
import Cryptography
import Glibc
import Testing

@testable import Vectors

/// Another verifier as a process: it is queried line by line, limited, and restarted after it ends. The verifiers are
/// shell scripts.
@Suite struct HarnessProcessTests {
  private let folder: TemporaryFolder
  private let suite: VectorSuite

  init() throws {
    folder = try TemporaryFolder()
    suite = try CommittedCorpus.suite()
  }

  /// A harness that describes itself, and does `body` with each other line, in `$line`.
  private func command(
    _ body: String, description: String = #"{"name": "shell", "version": "7", "profiles": ["core"]}"#
  ) throws -> String {
    let script = """
      say() { echo "{\\"id\\": \\"$id\\", $1}"; }
      while read -r line; do
        id=$(printf '%s' "$line" | cut -c 8-23)
        case "$line" in
          *describe*) echo '\(description)' ;;
          *) \(body) ;;
        esac
      done
      """
    return "sh \(try folder.write("harness.sh", script))"
  }

  /// A generous value, for a busy machine.
  private static let patient: HarnessProcess.Bounds = {
    var bounds = HarnessProcess.Bounds()
    bounds.reply = 120
    return bounds
  }()

  private func run(
    _ command: String, bounds: HarnessProcess.Bounds = Self.patient, filter: String = "element-twice"
  ) async throws -> RunReport {
    let process = HarnessProcess(command, bounds: bounds)
    let description = try await process.describe()
    var runner = VectorRunner(suite, subject: description.title) { [suite] vector throws(VerdictError) in
      try await process.judge(vector, anchors: suite.anchors)
    }
    runner.description = description
    runner.profiles = description.profiles
    runner.filter = filter
    return try await runner.run()
  }

  @Test func `what it says of itself names the report`() async throws {
    let report = try await run(try command(#"say '"verdict": "rejected", "note": "twice"'"#))
    #expect(report.subject == "shell 7" && report.hasPassed)
    #expect(report.results.first?.judgement?.note == "twice")
    #expect(report.results.first?.judgement?.codes == nil)
  }

  @Test func `it is asked what it claims and nothing else`() async throws {
    let description = #"{"name": "shell", "profiles": ["core"]}"#
    let command = try command(#"say '"verdict": "accepted"'"#, description: description)
    let report = try await run(command, filter: "good")
    let asked = report.results.filter { $0.skipReason == nil }.map(\.summary.id)
    #expect(asked.contains("good") && !asked.contains("good-in-app"))
    #expect(report.results.contains { $0.skipReason == "the profile apple is not claimed" })
  }

  @Test func `what it does not support is skipped with its reason`() async throws {
    let report = try await run(try command(#"say '"verdict": "unsupported", "reason": "no MACs"'"#))
    #expect(report.results.first?.skipReason == "no MACs" && !report.hasPassed)
  }

  @Test(arguments: [("kill -SEGV $$", "crashed (signal 11"), ("exit 3", "crashed (exit status 3")])
  func `a crash fails its case, and the next one is asked`(body: String, how: String) async throws {
    let body =
      #"if [ -e \#(folder.path)/died ]; then say '"verdict": "rejected"'; "#
      + #"else touch \#(folder.path)/died; \#(body); fi"#
    let report = try await run(try command(body), filter: "element-a")
    #expect(report.results.count > 1)
    #expect(report.results.first?.end?.text.hasPrefix(how) == true)
    #expect(report.results.first?.problem?.hasPrefix("no verdict: the verifier \(how)") == true)
    let others = report.results.dropFirst().filter { $0.skipReason == nil }
    #expect(!others.isEmpty && others.allSatisfy { $0.end == nil && $0.judgement != nil })
  }

  @Test func `silence ends the process after its time`() async throws {
    var bounds = HarnessProcess.Bounds()
    bounds.reply = 1
    let report = try await run(try command("sleep 30"), bounds: bounds)
    #expect(report.results.first?.end == .silent(1))
  }

  @Test func `standard error without an end keeps nobody from the deadline`() async throws {
    var bounds = HarnessProcess.Bounds()
    bounds.reply = 1
    let report = try await run(try command("yes >&2"), bounds: bounds)
    #expect(report.results.first?.end == .silent(1))
  }

  @Test func `memory beyond the bound ends the process and what it started`() async throws {
    var bounds = Self.patient
    bounds.memory = 64 << 20
    // The program that takes the memory is a child of the shell.
    let body = "echo $$ > \(folder.path)/id; head -c 200000000 /dev/zero | tail -n 1 | cat; sleep 30"
    let report = try await run(try command(body), bounds: bounds)
    #expect(report.results.first?.end == .exhausted(64 << 20))
  }

  @Test func `a line without an end is not read for ever`() async throws {
    let report = try await run(try command("yes | tr -d '\\n'"))
    #expect(report.results.first?.end == .talkative(1 << 20))
  }

  @Test func `the process and its children are gone after the run`() async throws {
    let command = try command("sleep 60 & echo $! > \(folder.path)/child; say '\"verdict\": \"rejected\"'")
    _ = try await run(command)
    let text = String(decoding: try SuiteFolder(folder.path).read("child"), as: UTF8.self)
    let child = try #require(pid_t(text.filter(\.isNumber)))
    let end = Deadline(in: .seconds(10))
    // A killed process stays visible to its new parent, but does not run.
    while kill(child, 0) == 0, Self.state(of: child) != "Z", !end.isPast { Deadline(in: .milliseconds(10)).sleep() }
    #expect(kill(child, 0) != 0 || Self.state(of: child) == "Z")
  }

  private static func state(of process: pid_t) -> Substring? {
    let text = (try? SuiteFolder("/proc/\(process)").read("stat")).map { String(decoding: $0, as: UTF8.self) }
    return text?.split(separator: ")").last?.split(separator: " ").first
  }

  @Test func `an answer to another question is no answer`() async throws {
    let report = try await run(try command(#"echo '{"id": "0000000000000000", "verdict": "rejected"}'"#))
    #expect(report.results.first?.problem == "no verdict: it replied to another question")
  }

  @Test(arguments: ["echo hello", "echo '[]'"])
  func `what is no object is no verdict`(body: String) async throws {
    let report = try await run(try command(body))
    let problem = "no verdict: its reply must be a JSON object on one line: "
    #expect(report.results.first?.problem?.hasPrefix(problem) == true)
  }

  @Test(arguments: [
    ("echo lost >&2; exit 4", "crashed (exit status 4: lost"), ("/no/such/program", "crashed (exit status 127: "),
  ])
  func `a command that does not start ends the run`(command: String, how: String) async throws {
    let error = await #expect(throws: VerdictError.self) { try await HarnessProcess(command).describe() }
    guard case .gone(let reason) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(reason.hasPrefix("\(command): \(how)") && reason.hasSuffix(") before its first reply"), "\(reason)")
  }

  @Test func `an answer without an id is no answer`() async throws {
    let report = try await run(try command(#"echo '{"verdict": "rejected"}'"#))
    #expect(report.results.first?.problem == "no verdict: its reply has no id")
  }

  @Test func `more than one line fails the case that it was written for`() async throws {
    let report = try await run(try command(#"printf '{"id": "x"}\n{"id": "y"}\n'"#))
    #expect(report.results.first?.end == .babbling)
  }

  @Test func `a program that ends after each answer is started for each question`() async throws {
    let report = try await run(try command(#"say '"verdict": "rejected"'; exit 0"#), filter: "device-mac")
    #expect(report.results.count > 4 && report.results.allSatisfy { $0.end == nil })
  }

  @Test(arguments: [
    (#"{"verdict": "accepted"}"#, "/name is required"), (#"{"name": ""}"#, "/name must be a non-empty string"),
    (#"{"verdict": "error", "reason": "no package"}"#, "/reason says: no package"),
    (#"{"name": "a", "profiles": ["core", "quantum"]}"#, "/profiles/1 must be `core`, `apple`"),
    (#"{"name": "a", "leaves": ["revocation", "all"]}"#, "/leaves/1 must be `strict`, `test-certificates`"),
    (#"{"name": "a", "version": 1}"#, "/version must be a string"),
  ])
  func `a description that is none ends the run`(description: String, problem: String) async throws {
    let command = try command(#"say '"verdict": "accepted"'"#, description: description)
    let error = await #expect(throws: VerdictError.self) { try await HarnessProcess(command).describe() }
    guard case .gone(let reason) = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(reason.contains(problem), "\(reason)")
  }

  @Test func `it says which rules it leaves to its caller`() throws {
    let described = try HarnessDescription(["name": "a", "leaves": ["minimum-age", "acceptance"]])
    #expect(described.leaves == [.minimumAge, .acceptance])
    #expect(described.json["leaves"] == ["minimum-age", "acceptance"])
    #expect(HarnessDescription(name: "a").json["leaves"] == nil)
  }

  @Test func `its words steer nothing`() async throws {
    let description = #"{"name": "a\u001b[2J\u202eb", "use": "x\u0000y", "documentation": "https://a.example/"}"#
    let described = try HarnessDescription(JSON(parsing: Array(description.utf8)))
    #expect(described.name == "a [2J b" && described.use == "x y")
    #expect(try HarnessDescription(["name": .string(String(repeating: "n", count: 5_000))]).name.count == 100)
    #expect(throws: VerdictError.self) {
      try Judgement(reply: ["verdict": "rejected", "codes": "mdoc.digest.mismatch"])
    }
  }

  /// More than a socket holds, for a shell that reads byte by byte.
  @Test func `a large question reaches a program that reads slowly`() async throws {
    let body = #"n=${#line}; say "\"verdict\": \"rejected\", \"note\": \"$n\"""#
    let report = try await run(try command(body), filter: "portrait-huge")
    #expect(Int(report.results.first?.judgement?.note ?? "") ?? 0 > 1_000_000)
  }
}

/// Cases that a maintainer knows to fail.
@Suite struct ExpectedFailureTests {
  @Test func `a file of ids with reasons`() throws {
    let text = "# ours\nelement-twice  # issue 7\n\n  good\n"
    let expected = try ExpectedFailures(parsing: text, path: "f")
    #expect(expected.reasons == ["element-twice": "issue 7", "good": ""])
    #expect(try ExpectedFailures(parsing: String(decoding: expected.fileContent, as: UTF8.self), path: "f") == expected)
    #expect(throws: SuiteError.self) { try ExpectedFailures(parsing: "good bad", path: "f") }
    #expect(throws: SuiteError.self) { try ExpectedFailures(parsing: "good\ngood", path: "f") }
    let suite = try CommittedCorpus.suite()
    #expect(expected.unknown(in: suite) == [])
    #expect(ExpectedFailures(reasons: ["no-such": ""]).unknown(in: suite) == ["no-such"])
  }

  @Test func `a digest stands for a list, in both directions`() async throws {
    var runner = VectorRunner(try CommittedCorpus.suite(), subject: "lenient") { _ in Judgement(isAccepted: true) }
    runner.filter = "element-"
    let report = try await runner.run()
    let ids = report.failures.map(\.summary.id).sorted()
    func digest(of ids: [String]) throws -> ExpectedFailures {
      let lines = ids.map { $0 + "\n" }.joined()
      let hex = Hex.encode(HashAlgorithm.sha256.hash(Array(lines.utf8)))
      return try ExpectedFailures(parsing: "# of 7\nsha256:\(hex)\n", path: "f")
    }
    let exact = try digest(of: ids)
    #expect(exact.fits(report) && report.holding(to: exact).hasPassed)
    #expect(report.holding(to: exact).count.known == ids.count)
    let passed = try #require(report.results.first { $0.problem == nil }).summary.id
    for other in [Array(ids.dropFirst()), (ids + [passed]).sorted(), []] {
      let expected = try digest(of: other)
      #expect(!expected.fits(report) && report.holding(to: expected).count.failed == ids.count)
    }
    let text = "sha256:" + String(repeating: "0", count: 64)
    for wrong in [text + "\n" + text, text + "\ngood", "good\n" + text] {
      #expect(throws: SuiteError.self, "\(wrong)") { try ExpectedFailures(parsing: wrong, path: "f") }
    }
    // A digest that is none is an id that no case has.
    for wrong in ["sha256:00", "sha256:" + String(repeating: "x", count: 64)] {
      #expect(try ExpectedFailures(parsing: wrong, path: "f").unknown(in: CommittedCorpus.suite()) == [wrong])
    }
  }

  @Test func `it is strict in both directions`() async throws {
    var runner = VectorRunner(try CommittedCorpus.suite(), subject: "lenient") { _ in Judgement(isAccepted: true) }
    runner.filter = "element-"
    let report = try await runner.run()
    let all = ExpectedFailures(of: report)
    #expect(!report.hasPassed)
    let held = report.holding(to: all)
    #expect(held.hasPassed && held.count.failed == 0 && held.count.known == report.count.failed)
    #expect(held.count.skipped == report.count.skipped, "what was run is not skipped")
    let page = String(decoding: HTMLReport(held).bytes, as: UTF8.self)
    #expect(page.contains("and \(held.count.known) fail as expected") && page.contains("expected to fail</dd>"))
    #expect(page.contains(escaped(BugClass.policyBypass.consequence)))
    #expect(JSONReport.json(held)["count"]?["failed_as_expected"]?.integer == Int64(held.count.known))
    let failed = try #require(report.failures.first).summary.id
    var fewer = all
    fewer.reasons[failed] = nil
    #expect(report.holding(to: fewer).failures.map(\.summary.id) == [failed])
    let passed = try #require(report.results.first { $0.problem == nil }).summary.id
    var more = all
    more.reasons[passed] = "once"
    let strict = report.holding(to: more)
    #expect(strict.failures.map(\.summary.id) == [passed])
    #expect(strict.failures.first?.problem == "passes, but is listed as a failure; remove it from the list")
  }
}
