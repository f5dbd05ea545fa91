import Base
import Cryptography
import FoundationEssentials
import TestMode
import Testing

@testable import MdocTool
@testable import Vectors

/// `mdoc vectors run --verifier`: the file, the rules of verdicts, the journal, and runs against servers.
@Suite struct RunningVerifierTests {
  // MARK: The file

  private static let call: JSON = ["url": "http://127.0.0.1:1/", "values": ["id": "/id"]]

  private static func file(_ trial: JSON, _ more: [JSON.Member] = []) -> JSON {
    .object(
      [.init("name", "Some verifier"), .init("protocols", ["openid4vp": trial])] + more)
  }

  private static func trial(_ more: KeyValuePairs<String, JSON>) -> JSON {
    let own: [JSON.Member] = [.init("start", call), .init("request", "${id}")].filter { member in
      !more.contains { $0.key == member.name }
    }
    return .object(own + more.map { JSON.Member($0.key, $0.value) })
  }

  private static let faults: [(json: JSON, pointer: String)] = [
    ([], ""),
    (["name": "n"], "/protocols"),
    (["name": "n", "protocols": [:]], "/protocols"),
    (["name": "n", "protocols": ["openid5vp": trial([:])]], "/protocols/openid5vp"),
    (file(trial([:]), [.init("nota", "n")]), "/nota"),
    (file(trial([:]), [.init("variables", ["A": 1])]), "/variables/A"),
    (file(trial([:]), [.init("prepare", ["url": "${id}"])]), "/prepare/url"),
    (file(trial([:]), [.init("seed", "${id}")]), "/seed"),
    (file(["start": call]), "/protocols/openid4vp/request"),
    (file(trial(["start": ["values": ["id": ""]]])), "/protocols/openid4vp/start/url"),
    (
      file(trial(["start": ["url": "u", "command": "c", "values": ["id": ""]]])),
      "/protocols/openid4vp/start/url"
    ),
    (file(trial(["start": ["url": "u", "values": ["id": "id"]]])), "/protocols/openid4vp/start/values/id"),
    (file(trial(["request": ["x": ["${%idd}"]]])), "/protocols/openid4vp/request"),
    (file(trial(["origin": "${response}"])), "/protocols/openid4vp/origin"),
    (file(trial(["submit": ["url": "${responce}"]])), "/protocols/openid4vp/submit/url"),
    (file(trial(["verdict": ["value": "/status"]])), "/protocols/openid4vp/verdict/accepted"),
    (file(trial(["verdict": ["codes": ["status"]]])), "/protocols/openid4vp/verdict/codes/0"),
    (file(trial(["merchant_id": ["x"]])), "/protocols/openid4vp/merchant_id"),
    (file(trial(["leave": ["why": "good"]])), "/protocols/openid4vp/leave/why"),
  ]

  @Test(arguments: faults)
  func `A fault of the file has its pointer`(json: JSON, pointer: String) {
    var faults = Faults()
    _ = VerifierFile.shape(protocols: ["openid4vp"], variants: ["good", "element-changed"]).read(json, "", &faults)
    #expect(faults.all.map(\.pointer) == [pointer], "\(faults.all)")
  }

  @Test func `Every file of the project can be read`() throws {
    let folder = "TestVectors/harnesses/verifiers"
    let names = try VerifierFiles.names(in: folder)
    #expect(names.contains("mdoc.json") && names.count >= 8)
    for name in names {
      let path = "\(folder)/\(name)"
      let file = try RunningVerifier.read(try FileAccess.read(path, purpose: "verifier"), path)
      #expect(!file.name.isEmpty && !file.trials.isEmpty)
    }
  }

  @Test func `Values replace names, and keep their types where they are alone`() throws {
    let json: JSON = [
      "url": "http://127.0.0.1:1/", "body": ["a": "${o}", "b": ["x${n}y${%t}${", 1], "c": "${t}"],
      "values": ["o": "", "n": "", "t": ""],
    ]
    let file = try #require(
      read(Self.file(Self.trial(["submit": json]), [.init("variables", ["o": "", "n": "", "t": ""])])))
    guard case .http(_, _, let template?) = file.trials[0].submit?.action else {
      Issue.record("the call posts no JSON")
      return
    }
    #expect(
      template.filled(["o": ["k": 1], "n": 7, "t": "a b/ü"])
        == ["a": ["k": 1], "b": ["x7ya%20b%2F%C3%BC${", 1], "c": "a b/ü"])
  }

  @Test func `Pointers find members, elements and all elements`() {
    let json: JSON = ["a/b": ["~": 1], "list": [["c": "x"], ["c": "y"], [:]]]
    #expect(json.values(at: "") == [json])
    #expect(json.values(at: "/a~1b/~0") == [1])
    #expect(json.values(at: "/list/1/c") == ["y"])
    #expect(json.values(at: "/list/*/c") == ["x", "y"])
    #expect(json.values(at: "/list/3").isEmpty && json.values(at: "/list/-1").isEmpty && json.values(at: "/c").isEmpty)
  }

  private func read(_ json: JSON) -> VerifierFile? {
    var faults = Faults()
    return VerifierFile.shape(protocols: ["openid4vp"], variants: ["good", "element-changed"]).read(json, "", &faults)
  }

  // MARK: Verdicts

  private static let verdict: VerifierFile.Verdict = {
    var verdict = VerifierFile.Verdict()
    verdict.pointer = "/state"
    (verdict.accepted, verdict.refused, verdict.pending) = (["ok", true], ["bad"], ["open", .null])
    verdict.codes = ["/code", "/more/*/code"]
    return verdict
  }()

  private func text(_ verdict: VerifierFile.Verdict, _ status: Int, _ body: String) -> String {
    do throws(VerdictError) {
      let judgement = try verdict.judgement(on: VerifierReply(status: status, body: Array(body.utf8)))
      let codes = judgement?.codes.map { $0.joined(separator: ",") } ?? "none"
      return judgement.map { "\($0.isAccepted) \(codes)" } ?? "pending"
    } catch {
      switch error {
      case .ended(let end): return end.text
      case .other(let reason), .unsupported(let reason), .gone(let reason): return reason
      }
    }
  }

  @Test(arguments: [
    (200, #"{"state": "ok"}"#, "true "), (200, #"{"state": true}"#, "true "),
    (200, #"{"state": "bad", "code": "a", "more": [{"code": "b"}, {"code": "a"}]}"#, "false a,b"),
    (200, #"{"state": "open"}"#, "pending"), (200, "{}", "pending"), (404, #"{"state": "gone"}"#, "pending"),
    (200, #"{"state": "odd"}"#, #"/state is "odd", which the file does not list"#),
    (500, #"{"state": "ok"}"#, "crashed (HTTP 500)"), (503, "", "crashed (HTTP 503)"),
    (429, #"{"state": "bad"}"#, "crashed (HTTP 429)"),
  ])
  func `A value is a verdict`(status: Int, body: String, expected: String) {
    #expect(text(Self.verdict, status, body) == expected)
  }

  @Test(arguments: [(200, "true none"), (302, "true none"), (400, "false none"), (500, "crashed (HTTP 500)")])
  func `Without a pointer the status is the verdict`(status: Int, expected: String) {
    #expect(text(VerifierFile.Verdict(), status, "{}") == expected)
  }

  // MARK: The journal

  private static let entries: [Result<Judgement, VerdictError>] = [
    .success(Judgement(isAccepted: true)), .success(Judgement(isAccepted: false, codes: ["a.b", "c.d"])),
    .failure(.unsupported("why")), .failure(.other("odd")), .failure(.ended(.silent(7))),
    .failure(.ended(.crashed("HTTP 500"))),
  ]

  @Test(arguments: entries.indices)
  func `An entry of the journal is read as it was written`(index: Int) throws {
    let entry = JournalEntry(id: "openid4vp/good", result: Self.entries[index], seconds: 1.5)
    let json = try JSON(parsing: entry.json.serialized())
    let read = try #require(JournalEntry(json))
    #expect(read.json == entry.json && read.id == "openid4vp/good" && read.seconds == 1.5)
    #expect(JournalEntry(["verifier": "x"]) == nil && JournalEntry(["id": "x"]) == nil)
  }

  // MARK: Runs

  /// Our file for a server, with changes of its text.
  private func ownFile(_ mode: TestServer, _ scratch: Scratch, _ changes: (String, String)...) throws -> String {
    var text = String(
      decoding: try FileAccess.read("TestVectors/harnesses/verifiers/mdoc.json", purpose: "verifier"), as: UTF8.self)
    for (old, new) in [("http://127.0.0.1:8080", mode.baseURL)] + changes {
      #expect(text.contains(old))
      text = text.replacing(old, with: new)
    }
    return try scratch.write("verifier.json", text)
  }

  private func report(_ scratch: Scratch) throws -> [String: JSON] {
    let results = try JSON(parsing: scratch.read("report.json"))["results"]?.array ?? []
    return Dictionary(uniqueKeysWithValues: results.map { ($0["id"]?.string ?? "", $0) })
  }

  @Test func `Our server gives each variant its codes over every protocol`() async throws {
    let mode = try TestServer.start(TestModeOptions())
    let scratch = try Scratch()
    let run = await Run(
      "vectors", "run", "--verifier", try ownFile(mode, scratch), "--filter", "device-signature-zero", "--json",
      scratch("report.json"), "--junit", scratch("junit.xml"), "--html", scratch("report.html"))
    await mode.server.stop(drainSeconds: 0)
    #expect(run.status == 0, "\(run.output) \(run.error)")
    #expect(run.output.contains("PASSED  24 cases: 24 passed, 0 failed, 0 skipped"), "\(run.output)")
    #expect(run.error.contains("mdoc serve --test-mode"))
    let results = try report(scratch)
    let played = try #require(results["openid4vp/device-signature-zero"])
    #expect(played["observed"] == ["mdoc.device_auth.signature_invalid"] && played["importance"] == "must")
    #expect(results["openid4vp/good"]?["accepted"] == true && results["openid4vp/good.2"]?["accepted"] == true)
    #expect(String(decoding: scratch.read("junit.xml"), as: UTF8.self).contains("tests=\"24\""))
  }

  @Test func `A wrong response that is accepted fails, and a wrong code fails`() async throws {
    let mode = try TestServer.start(TestModeOptions())
    let scratch = try Scratch()
    for (change, problem) in [
      (
        (#"["failed", "canceled"]"#, #"["nothing"]"#, #"["verified"]"#, #"["verified", "failed"]"#),
        "accepted, expected"
      ),
      (("/last_error/code", "/last_error/reasons/0/clause", "/id", "/id"), "refused with"),
    ] {
      let path = try ownFile(mode, scratch, (change.0, change.1), (change.2, change.3))
      let run = await Run(
        "vectors", "run", "--verifier", path, "--filter", "device-signature-zero", "--protocol", "org-iso-mdoc",
        "--json",
        scratch("report.json"))
      #expect(run.status == 1, "\(run.output) \(run.error)")
      let results = try report(scratch)
      #expect(results["org-iso-mdoc/good"]?["outcome"] == "passed")
      let wrong = results["org-iso-mdoc/device-signature-zero"]
      #expect(wrong?["problem"]?.string?.hasPrefix(problem) == true, "\(String(describing: wrong))")
    }
    await mode.server.stop(drainSeconds: 0)
  }

  /// A verifier whose requests a command prints, and whose verdict is the status of the reply to the response.
  private func scripted(_ url: String, _ scratch: Scratch) throws -> String {
    let data: JSON = [
      "response_type": "vp_token", "response_mode": "dc_api", "nonce": "bm9uY2Utb2YtYS1zZXNzaW9u",
      "dcql_query": [
        "credentials": [
          [
            "id": "document_0", "format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"],
            "claims": [["path": ["org.iso.18013.5.1", "given_name"]]],
          ]
        ]
      ],
    ]
    let json: JSON = [
      "name": "Scripted",
      "protocols": [
        "openid4vp-v1-unsigned": [
          "start": [
            "command": .string("echo '\(JSON.members(["data": data]).text())'"),
            "values": ["data": "/data"],
          ],
          "request": "${data}", "origin": "https://verifier.example",
          "submit": ["url": .string(url), "body": "${response}"],
        ]
      ],
    ]
    return try scratch.write("verifier.json", json.serialized())
  }

  private func run(_ path: String, _ scratch: Scratch, _ more: String...) async -> Run {
    await Run(
      [
        "vectors", "run", "--verifier", path, "--filter", "device-signature-zero", "--parallel", "1",
        "--answer-seconds",
      ]
        + ["2", "--json", scratch("report.json")] + more)
  }

  private static func reply(_ status: Int) -> String { "HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\n{}" }

  @Test func `A crash and silence are faults of their own, not refusals`() async throws {
    for (reply, ended) in [
      (Self.reply(500), "crashed (HTTP 500)"), (nil, "crashed (http://127.0.0.1"),
    ] {
      let scratch = try Scratch()
      let listener = try ScriptedListener(replies: [Self.reply(200), reply, Self.reply(200)])
      let run = await run(try scripted(listener.url, scratch), scratch)
      #expect(run.status == 1, "\(run.output) \(run.error)")
      let wrong = try report(scratch)["openid4vp-v1-unsigned/device-signature-zero"]
      #expect(wrong?["ended"]?.string?.hasPrefix(ended) == true, "\(String(describing: wrong))")
      #expect(wrong?["accepted"] == .null)
    }
    let scratch = try Scratch()
    let listener = try ScriptedListener(replies: [Self.reply(200)])
    let run = await run(try scripted(listener.url, scratch), scratch)
    #expect(run.status == 1)
    let silent = try report(scratch)["openid4vp-v1-unsigned/device-signature-zero"]
    #expect(silent?["ended"] == "gave no reply in 2 s", "\(String(describing: silent))")
  }

  @Test func `A verifier that begins no session any more fails the run, and a control that fails is named`()
    async throws
  {
    let scratch = try Scratch()
    let listener = try ScriptedListener(replies: [Self.reply(200), Self.reply(401), Self.reply(401)])
    let json: JSON = [
      "name": "Expired",
      "protocols": [
        "openid4vp": ["start": ["url": .string(listener.url)], "request": "openid4vp://?client_id=a&response_uri=b"]
      ],
    ]
    let run = await run(try scratch.write("verifier.json", json.serialized()), scratch)
    #expect(run.status == 1, "\(run.output) \(run.error)")
    #expect(run.output.contains("no session was started: HTTP 401"), "\(run.output)")
    #expect(run.error.contains("openid4vp/good was not accepted"), "\(run.error)")
  }

  @Test func `A stopped run goes on where it stopped`() async throws {
    let scratch = try Scratch()
    let journal = scratch("journal.jsonl")
    let listener = try ScriptedListener(replies: [Self.reply(200), Self.reply(400), Self.reply(200)])
    let path = try scripted(listener.url, scratch)
    let whole = await run(path, scratch, "--resume", journal)
    #expect(whole.status == 0, "\(whole.output) \(whole.error)")
    let first = try report(scratch)
    // The run was killed while it wrote its last line.
    let lines = String(decoding: scratch.read("journal.jsonl"), as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(lines.count == 4)
    try scratch.write("journal.jsonl", lines.dropLast().joined(separator: "\n") + "\n{\"id\": \"openid4vp-v1")
    let again = try ScriptedListener(replies: [Self.reply(200)])
    let moved = try scratch.write(
      "verifier.json",
      String(decoding: scratch.read("verifier.json"), as: UTF8.self).replacing(listener.url, with: again.url))
    let other = await run(moved, scratch, "--resume", journal)
    #expect(other.status == 64 && other.error.contains("is not a journal of this run"))
    let seeded = await run(path, scratch, "--resume", journal, "--seed", "01")
    #expect(seeded.status == 64 && seeded.error.contains("is not a journal of this run"), "another issuer's")
    let notes = try scratch.write("notes.txt", "Buy milk.\n")
    #expect(await run(path, scratch, "--resume", notes).status == 64)
    #expect(scratch.read("notes.txt") == Array("Buy milk.\n".utf8))
    // The same file, with the address of the second listener from the start.
    let renamed = try Self.head(of: scratch.read("verifier.json"), before: Array(lines[0].utf8))
    try scratch.write("journal.jsonl", ([renamed] + lines[1...2]).joined(separator: "\n") + "\n{\"id\": \"openid4vp-v1")
    let rest = await run(moved, scratch, "--resume", journal)
    #expect(rest.status == 0, "\(rest.output) \(rest.error)")
    let second = try report(scratch)
    #expect(Set(first.keys) == Set(second.keys) && second.count == 3)
    // Nothing is left to play.
    let last = await run(moved, scratch, "--resume", journal)
    #expect(last.status == 0 && last.output.contains("3 passed"), "\(last.output) \(last.error)")
  }

  /// The first line of a journal, with the digest of another file.
  private static func head(of file: [UInt8], before line: [UInt8]) throws -> String {
    let old = try JSON(parsing: line)
    return JSON.object(
      (old.object ?? []).map { $0.name == "verifier" ? .init("verifier", .string(VerifierFiles.digest(file))) : $0 }
    ).text()
  }

  @Test(arguments: [
    (["--verifier", "none.json"], 65), (["--verifier", "f.json", "--exec", "x"], 64), (["--parallel", "4"], 64),
    (["--resume", "x"], 64), (["--verifier", "f.json", "--parallel", "17"], 64),
    (["--verifier", "f.json", "--protocol", "none"], 64),
    (["--verifier", "f.json", "--filter", "no-such-variant"], 64),
  ])
  func `Wrong options are usage errors`(options: [String], status: Int) async throws {
    let scratch = try Scratch()
    let path = try scripted("http://127.0.0.1:1/", scratch)
    let run = await Run(["vectors", "run"] + options.map { $0 == "f.json" ? path : $0 })
    #expect(run.status == Int32(status) && run.hasOneLineOfError, "\(run.output) \(run.error)")
  }

  @Test func `Another machine is not visited unless it is named`() async throws {
    let scratch = try Scratch()
    let json: JSON = [
      "name": "Elsewhere",
      "protocols": ["openid4vp": ["start": ["url": "http://verifier.example/"], "request": "x://?a=b"]],
    ]
    let run = await Run("vectors", "run", "--verifier", try scratch.write("verifier.json", json.serialized()))
    #expect(run.status == 64 && run.error.contains("--i-may-test verifier.example"), "\(run.error)")
  }

  @Test func `A verifier that is gone ends the run`() async throws {
    let scratch = try Scratch()
    let json: JSON = [
      "name": "Gone", "protocols": ["openid4vp": ["start": ["url": "http://127.0.0.1:1/"], "request": "x://?a=b"]],
    ]
    let run = await Run(
      "vectors", "run", "--verifier", try scratch.write("verifier.json", json.serialized()), "--filter", "good")
    #expect(run.status == 75 && run.error.contains("the verifier is gone"), "\(run.error)")
  }
}

private enum VerifierFiles {
  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted()
  }

  static func digest(_ file: [UInt8]) -> String { Hex.encode(HashAlgorithm.sha256.hash(file)) }
}
