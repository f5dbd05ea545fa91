import App
import Base
import Glibc
import TestMode
import Vectors

/// A server under load: responses over kept connections, and how its memory grows after the first thousand.
struct ServerBenchmark {
  let connections: Int
  let verifications: Int
  /// The path of `mdoc`.
  let program: String

  /// Responses of one batch. They are made before its clock starts, because making them is the mock wallet's work.
  private static let batch = 1_000

  struct Figures {
    var perSecond: Double
    var p50Microseconds: Double
    var p99Microseconds: Double
    /// Resident KiB of the server after the first thousand verifications and after all.
    var memoryEarly: Int
    var memoryLate: Int
    var verifications: Int

    var growth: Double { Double(memoryLate) / Double(max(memoryEarly, 1)) - 1 }
  }

  struct Failed: Error { let reason: String }

  func run() async throws(Failed) -> Figures {
    let server: ServerProcess
    do throws(ServerProcess.Failed) { server = try ServerProcess(program) } catch { throw Failed(reason: error.reason) }
    defer { server.stop() }
    let workers = (0..<connections).map { _ in ServerBenchmarkWorker(port: server.port, token: server.apiKey) }
    let batches = max(1, verifications / Self.batch)
    var rates = Samples()
    var latencies: [Double] = []
    var early = 0
    for batch in 0..<batches {
      let share = Self.batch / connections
      try await Self.each(workers) { worker throws(ClientError) in try worker.prepare(share) }
      let start = CPUClock.wall()
      try await Self.each(workers) { worker throws(ClientError) in try worker.submit() }
      rates.add(Double(share * connections) / (CPUClock.wall() - start) * 1e6)
      latencies += workers.flatMap { $0.takeLatencies() }
      if batch == 0 { early = server.residentMemory() ?? 0 }
    }
    latencies.sort()
    return Figures(
      perSecond: rates.median, p50Microseconds: latencies[latencies.count / 2],
      p99Microseconds: latencies[latencies.count * 99 / 100], memoryEarly: early,
      memoryLate: server.residentMemory() ?? 0, verifications: batches * Self.batch)
  }

  /// Runs every worker on a thread of its own, because its calls block.
  static func each(
    _ workers: [ServerBenchmarkWorker],
    _ body: @escaping @Sendable (ServerBenchmarkWorker) throws(ClientError) -> Void
  ) async throws(Failed) {
    let fault = Locked<String?>(nil)
    await withTaskGroup(of: Void.self) { group in
      for worker in workers {
        group.addTask {
          await BackgroundThread.run {
            do throws(ClientError) {
              try body(worker)
            } catch {
              fault.withLock { $0 = error.reason }
            }
          }
        }
      }
    }
    if let reason = fault.withLock({ $0 }) { throw Failed(reason: reason) }
  }
}

// MARK: Output

extension ServerBenchmark.Figures {
  var facts: [(name: String, value: String)] {
    [
      ("verifications a second", decimal(perSecond, 0)), ("p50", "\(decimal(p50Microseconds / 1_000, 2)) ms"),
      ("p99", "\(decimal(p99Microseconds / 1_000, 2)) ms"), ("memory after 1000", "\(memoryEarly) KiB"),
      ("memory after \(verifications)", "\(memoryLate) KiB"), ("growth", "\(decimal(max(0, growth) * 100, 1)) %"),
    ]
  }

  var json: JSON {
    [
      "verifications_per_second": .integer(Int64(perSecond)), "p50_microseconds": .integer(Int64(p50Microseconds)),
      "p99_microseconds": .integer(Int64(p99Microseconds)), "resident_kib_after_1000": .integer(Int64(memoryEarly)),
      "resident_kib_at_the_end": .integer(Int64(memoryLate)), "verifications": .integer(Int64(verifications)),
    ]
  }
}

/// One connection, with the responses that it submits.
// Sendable by use: one thread at a time runs it, and the benchmark waits for all of them before the next step.
final class ServerBenchmarkWorker: @unchecked Sendable {
  /// The id of a session, and the body of its submit.
  typealias Answer = (session: String, body: [UInt8])

  private let port: UInt16
  private let token: String
  private var connection: ClientConnection?
  private var answers: [Answer] = []
  private var latencies: [Double] = []

  init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  func takeLatencies() -> [Double] {
    defer { latencies.removeAll(keepingCapacity: true) }
    return latencies
  }

  func takeAnswers() -> [Answer] {
    defer { answers = [] }
    return answers
  }

  /// Creates this many sessions and lets the mock wallet respond to them.
  func prepare(_ count: Int) throws(ClientError) {
    for _ in 0..<count {
      let created = try call("/v1/verification_sessions", Self.requestBytes, status: 201)
      guard let session = (try? JSON(parsing: created))?["id"]?.string else {
        throw ClientError(reason: "a session without an id")
      }
      let wanted: JSON = ["session": .string(session), "variant": "good"]
      answers.append((session, try call("/v1/test/mock_responses", wanted.serialized(), status: 200)))
    }
  }

  func submit() throws(ClientError) {
    for (session, body) in answers {
      let start = CPUClock.wall()
      let reply = try call("/v1/verification_sessions/\(session)/submit", body, status: 200)
      latencies.append(CPUClock.wall() - start)
      guard (try? JSON(parsing: reply))?["status"]?.string == "verified" else {
        throw ClientError(reason: "an answer was not verified")
      }
    }
    answers.removeAll(keepingCapacity: true)
  }

  private func call(_ path: String, _ body: [UInt8], status: Int) throws(ClientError) -> [UInt8] {
    let connection = try openConnection()
    let reply = try connection.post(path, body)
    guard reply.status == status else {
      throw ClientError(reason: "HTTP \(reply.status) where \(status) was due, at \(path)")
    }
    return reply.body
  }

  private func openConnection() throws(ClientError) -> ClientConnection {
    if let connection { return connection }
    let opened = try ClientConnection(port: port, token: token)
    connection = opened
    return opened
  }

  /// The body of a creation. The session lives as long as possible, because its response is made before the clock runs.
  static let requestBytes = request.serialized()

  static let elements = ["given_name", "family_name", "birth_date", "portrait", "document_number"]
  static let age: Int64 = 21

  private static let request: JSON = [
    "protocols": ["apple-in-app"], "expires_in": .integer(Limits.sessionLifetimeRange.upperBound),
    "documents": [
      [
        "doc_type": "org.iso.18013.5.1.mDL",
        "elements": .array(
          elements.map { name -> JSON in
            ["namespace": "org.iso.18013.5.1", "identifier": .string(name)]
          }),
        "age_over": [.integer(age)],
      ]
    ],
  ]
}

/// `mdoc serve --test-mode` as a process of its own, so that its memory is measured apart from ours.
struct ServerProcess {
  struct Failed: Error { let reason: String }

  let port: UInt16
  let apiKey: String
  private let process: pid_t

  /// Starts `mdoc` as a server, and waits for its announcement.
  /// - Parameter processors: the processors that it may run on, as `taskset` takes them; nil for all.
  /// - Parameter store: as `--store` takes it; nil for a temporary file.
  init(_ program: String, processors: String? = nil, store: String? = nil) throws(Failed) {
    var pipeEnds: [Int32] = [0, 0]
    guard pipe(&pipeEnds) == 0 else { throw Failed(reason: "no pipe") }
    defer { close(pipeEnds[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, pipeEnds[0])
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let serving =
      ["serve", "--test-mode", "--listen", "127.0.0.1:0", "--json"] + (store.map { ["--store", $0] } ?? [])
    let arguments = (processors.map { ["taskset", "-c", $0] } ?? []) + [program] + serving
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
    close(pipeEnds[1])
    guard code == 0 else { throw Failed(reason: "\(program) did not start") }
    self.process = process
    guard let announcement = try? JSON(parsing: ServerProcess.readAll(pipeEnds[0])),
      let key = announcement["api_key"]?.string,
      let port = announcement["base_url"]?.string?.split(separator: ":").last.flatMap({ UInt16($0) })
    else {
      kill(process, SIGTERM)
      throw Failed(reason: "the server did not say where it listens")
    }
    apiKey = key
    self.port = port
  }

  /// Processor seconds that the server has used, by thread names.
  func processorSeconds() -> [String: Double] { ProcessorTime.byThread(of: process) }

  func counts() -> ProcessCounts { ProcessCounts(of: process) }

  /// Resident memory in KiB; nil if the system does not tell.
  func residentMemory() -> Int? { status("VmRSS:") }

  /// The most resident memory at any time, in KiB; nil if the system does not tell.
  func peakMemory() -> Int? { status("VmHWM:") }

  private func status(_ name: String) -> Int? {
    guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) }
    }
    return nil
  }

  func stop() {
    kill(process, SIGTERM)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// Reads until the bytes are complete JSON. There is no end of file to wait for: the server keeps the pipe open.
  private static func readAll(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      if (try? JSON(parsing: bytes)) != nil { return bytes }
    }
  }
}
