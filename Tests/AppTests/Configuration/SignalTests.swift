import Base
import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import TestSupport
import Testing

@testable import App

/// Operators' signals to a running server: SIGHUP, SIGTERM.
@Suite(.onOwnThreads, .enabled(if: LiveProcess.program != nil, "the program was not built")) struct SignalTests {
  @Test func `SIGHUP reads the configuration anew, and SIGTERM announces the stop and ends with status 0`() async throws
  {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let key = Hex.encode(try Random.bytes(32))
      let changes: [String: JSON] = [
        "stop_notice": 0, "sealing_keys": [["id": "a", "file": ["env": "MDOC_TEST_PROCESS_KEY"]]],
      ]
      try folder.writeConfiguration(changes)
      let process = try LiveProcess(folder, environment: ["MDOC_TEST_PROCESS_KEY=\(key)"])
      let listen = try await process.event("server.started")["listen"]?.string.flatMap { ListenAddress($0) }
      let api = APIClient(port: try #require(listen).port, isLive: true, token: LiveFolder.apiKey)
      #expect(try await api.get("/v1/trust_anchors").status == 403)
      let environment = FileManager.default.contents(atPath: "/proc/\(process.id)/environ").map { [UInt8]($0) } ?? []
      #expect(!environment.isEmpty && !String(decoding: environment, as: UTF8.self).contains(key.prefix(8)))

      let scopes = LiveFolder.party.with(["trust:read"], at: "/api_keys/0/scopes")
      try folder.writeConfiguration(changes.merging(["relying_parties": [scopes]]) { $1 })
      process.send(SIGHUP)
      _ = try await process.event("configuration.reloaded")
      #expect(try await api.get("/v1/trust_anchors").status == 200)

      try folder.write("mdoc.json", Array("{".utf8))
      process.send(SIGHUP)
      _ = try await process.event("configuration.reload_failed")
      #expect(try await api.get("/v1/trust_anchors").status == 200)

      process.send(SIGTERM)
      _ = try await process.event("server.stop_announced")
      #expect(process.end(with: 0) == 0)
    }
  }
}

@Suite struct StopDeadlineTests {
  /// Neither the task that stops the server nor any request gets a thread, and none of them can be made to return.
  @Test("a stop ends the process in its time, though every thread for verification hangs in a call")
  func hangingThreads() async {
    let result = await #expect(
      processExitsWith: .exitCode(StopWatchdog.status), observing: [\.standardErrorContent]
    ) {
      for _ in 0..<(4 * HTTPServerConfiguration.processorCount) {
        Task.detached(executorPreference: WorkerThreads.shared) { while true { pause() } }
      }
      // Sent to the process, since this thread blocks the signal. It waits until there is a server to stop.
      StopSignal.install()
      kill(getpid(), SIGTERM)
      try await withFolder { path in
        let folder = try LiveFolder(path)
        try folder.writeConfiguration(["stop_notice": 0, "stop_drain": 1])
        _ = await VerifierServer.run(configurationFile: folder.configurationFile)
      }
    }
    let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(log.contains("server.stop_overdue"))
  }

  @Test("a stop that ends in its time ends with 0") func gracefulStop() async {
    await #expect(processExitsWith: .exitCode(0)) {
      StopSignal.install()
      kill(getpid(), SIGTERM)
      try await withFolder { path in
        let folder = try LiveFolder(path)
        try folder.writeConfiguration(["stop_notice": 0, "stop_drain": 1])
        exit(await VerifierServer.run(configurationFile: folder.configurationFile))
      }
    }
  }
}

/// A stop is announced before it begins.
@Suite(.onOwnThreads) struct StopNoticeTests {
  @Test func `a server that is about to stop says so, and answers until it does`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["stop_notice": 300, "stop_drain": 3])
      let log = LogCapture()
      let server = try folder.start(log)
      let api = APIClient(port: server.listen.port, isLive: true, token: LiveFolder.apiKey)
      #expect(try await api.get("/readyz").status == 200)
      let stop = Task { await server.stopWithNotice() }
      while !log.all.contains(where: { $0.contains("server.stop_announced") }) { await Task.yield() }
      let ready = try await api.with(nil).get("/readyz")
      #expect(ready.status == 503 && ready.code == "api.overloaded" && ready.body.contains("The server is stopping."))
      let metrics = try await api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_http_shed_total{reason=\"full\"} 0\n"), "nothing was refused for load")
      #expect(try await api.post("/v1/verification_sessions", TestBed.body(.standard)).status == 201)
      #expect(try await api.get("/healthz").status == 200)
      // As if the time had passed.
      stop.cancel()
      await stop.value
      #expect(throws: (any Error).self) { try RawClient(port: server.listen.port, timeout: 1) }
    }
  }
}

/// The built program, serving a live configuration in its own process, which gets an operator's signals.
final class LiveProcess {
  struct Fault: Error { let reason: String }

  /// Beside the tests; nil where it was not built.
  static let program: String? = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return nil }
    let program = path[..<slash] + "/mdoc"
    return access(String(program), X_OK) == 0 ? String(program) : nil
  }()

  private(set) var id: pid_t = 0
  private let logPath: String

  /// An address sanitizer looks for leaks in the tests' own process: without an environment it knows no symbols, and
  /// takes globals for leaks.
  private static let sanitizerOptions = ["ASAN_OPTIONS=detect_leaks=0"]

  /// Its log goes to a file in the folder. Its environment has only this and a sanitizer's variables.
  init(_ folder: LiveFolder, environment: [String]) throws {
    guard let program = Self.program else { throw Fault(reason: "the program was not built") }
    logPath = folder.path + "/log"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, logPath, O_WRONLY | O_CREAT, 0o600)
    let words = [program, "serve", "--config", folder.configurationFile]
    var arguments = words.map { strdup($0) } + [nil]
    var variables = (environment + Self.sanitizerOptions).map { strdup($0) } + [nil]
    defer { for copy in arguments + variables { free(copy) } }
    let code = posix_spawn(&id, program, &actions, nil, &arguments, &variables)
    guard code == 0 else { throw Fault(reason: "spawn: \(code)") }
  }

  deinit { end(with: SIGKILL) }

  func send(_ signal: Int32) { kill(id, signal) }

  /// Waits for its end, after the signal, and returns its status; negative is a signal's number.
  @discardableResult
  func end(with signal: Int32) -> Int32 {
    guard id > 0 else { return 0 }
    var status: Int32 = 0
    if signal != 0 { kill(id, signal) }
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    id = 0
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  /// The first log line of this event, once it is written.
  func event(_ name: String) async throws -> JSON {
    for _ in 0..<1_500 {
      let text = FileManager.default.contents(atPath: logPath).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let lines = text.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
      if let line = lines.first(where: { $0["event"]?.string == name }) { return line }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Fault(reason: "no \(name) in the log")
  }
}
