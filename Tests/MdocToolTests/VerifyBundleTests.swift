import App
import Base
import Cryptography
import Mock
import Sessions
import TestMode
import Testing

@testable import MdocTool

/// `mdoc verify bundle`: evidence of a server, judged from its file.
@Suite struct VerifyBundleTests {
  /// A server in test mode with a verified session; writes `bundle` and `key`, and gives the session.
  private func makeBundle(_ scratch: Scratch) async throws -> JSON {
    let made = await Run("keys", "generate", "--type", "sealing", "--out", scratch("key"))
    #expect(made.status == 0, "\(made.error)")
    var options = TestModeOptions()
    options.evidenceKey = try KeyFile.evidenceKey(scratch("key"))
    options.patience = 60_000
    let mode = try TestServer.start(options)
    let client = LoopbackClient(port: mode.server.listen.port, token: mode.apiKey)
    let element: JSON = [
      "namespace": .string(MockNamespace.mDL), "identifier": "given_name", "intent_to_retain": true,
    ]
    let created = try await client.post(
      "/v1/verification_sessions",
      [
        "protocols": ["apple-in-app"],
        "documents": [["doc_type": .string(MockDocType.mDL), "elements": [element]]],
      ])
    let id = try #require(created.body["id"]?.string)
    let answer = try await client.post("/v1/test/mock_responses", ["session": .string(id)])
    let session = try await client.post("/v1/verification_sessions/\(id)/submit", answer.body)
    #expect(session.body["evidence"] == "kept", "\(session.body)")
    try scratch.write("bundle", try await fetch("/v1/verification_sessions/\(id)/evidence", client))
    await mode.server.stop(drainSeconds: 0)
    return session.body
  }

  /// The client is only for JSON.
  private func fetch(_ path: String, _ client: LoopbackClient) async throws -> [UInt8] {
    let received = Locked<[UInt8]>([])
    await BackgroundThread.run {
      guard let connection = try? ClientConnection(port: client.port, token: client.token),
        (try? connection.send("GET", path)) != nil, let reply = try? connection.receive()
      else { return }
      received.withLock { $0 = reply.body }
    }
    let bytes = received.withLock { $0 }
    let mark = Array("mdoc-evidence".utf8)
    let start = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) })
    return Array(bytes[start...])
  }

  @Test(arguments: [("live", nil), ("staging", "STAGING: "), ("test", "TEST MODE: "), ("other", "TEST MODE: ")])
  func `What was not live says so`(mode: String, warning: String?) {
    let text = TextPrinter(width: 100, isColored: false).text(
      VerifyBundle.origin(["session": "vs_1", "mode": .string(mode)]))
    #expect(text.hasPrefix(warning ?? "Evidence of session vs_1\n"), "\(text)")
  }

  @Test func `A bundle comes to the report and the result that were given`() async throws {
    let scratch = try Scratch()
    let session = try await makeBundle(scratch)
    let run = await Run("verify", "bundle", scratch("bundle"), "--key", scratch("key"), "--json")
    #expect(run.status == 0, "\(run.output) \(run.error)")
    let json = try run.json()
    for member in ["report", "result", "status", "livemode", "last_error"] {
      #expect(json[member] == session[member], "\(member)")
    }
    #expect(json["session"] == session["id"] && json["protocol"] == "apple-in-app")
    let text = await Run("verify", "bundle", scratch("bundle"), "--key", scratch("key"), "--html", scratch("page"))
    let page = String(decoding: scratch.read("page"), as: UTF8.self)
    #expect(page.contains(">VERIFIED at ") && page.contains("<dt>given_name</dt><dd>Ada</dd>"))
    #expect(page.contains("TEST MODE") && page.contains("<dd>given_name</dd>"), "what was asked")
    #expect(text.status == 0 && text.output.contains("VERIFIED") && text.output.contains("TEST MODE"))
    #expect(text.output.contains("not consulted") && json["in_audit"]?.isNull == true)
    // A log that does not have it.
    try scratch.write("audit", "")
    let audited = await Run("verify", "bundle", scratch("bundle"), "--key", scratch("key"), "--audit", scratch("audit"))
    #expect(audited.status == 1 && audited.output.contains("evidence.not_in_audit"))
    try scratch.write("heads", #"{"node":"node","head":1,"hash":"\#(String(repeating: "0", count: 64))"}"#)
    let heads = await Run("verify", "bundle", scratch("bundle"), "--key", scratch("key"), "--heads", scratch("heads"))
    #expect(heads.status == 64 && heads.error.contains("--heads needs --audit"))
    #expect(text.output.contains("Ada") && text.output.contains(session["id"]?.string ?? "none"))
  }

  @Test func `A bundle that was changed or is another's is rejected with its code`() async throws {
    let scratch = try Scratch()
    _ = try await makeBundle(scratch)
    _ = await Run("keys", "generate", "--type", "sealing", "--out", scratch("other"))
    let sealed = scratch.read("bundle")
    var changed = sealed
    changed[sealed.count / 2] ^= 1
    var newer = sealed
    newer[13] = 9
    for (bytes, key, code) in [
      (sealed, "other", "evidence.key_mismatch"), (changed, "key", "evidence.seal_broken"),
      (Array(sealed.dropLast(9)), "key", "evidence.seal_broken"), (newer, "key", "evidence.version_unsupported"),
      (Array("no bundle".utf8), "key", "evidence.malformed"),
      (sealed + [UInt8](repeating: 0, count: 8 << 20), "key", "evidence.too_large"),
    ] {
      try scratch.write("spoilt", bytes)
      let run = await Run("verify", "bundle", scratch("spoilt"), "--key", scratch(key), "--json")
      #expect(run.status == 1)
      #expect(try run.json()["last_error"]?["code"]?.string == code)
      let text = await Run("verify", "bundle", scratch("spoilt"), "--key", scratch(key))
      #expect(text.status == 1 && text.output.contains("REJECTED") && text.output.contains(code))
    }
    // The right key is found among several.
    let run = await Run(
      "verify", "bundle", scratch("bundle"), "--key", scratch("other"), "--key", scratch("key"))
    #expect(run.status == 0)
  }

  @Test func `What cannot be read is said`() async throws {
    let scratch = try Scratch()
    try scratch.write("short", "0123")
    #expect(await Run("verify", "bundle", scratch("none"), "--key", scratch("short")).status == 65)
    #expect(await Run("verify", "bundle", scratch("none")).status == 64)
    _ = await Run("keys", "generate", "--type", "sealing", "--out", scratch("key"))
    #expect(await Run("verify", "bundle", scratch("none"), "--key", scratch("key")).status == 65)
  }
}
