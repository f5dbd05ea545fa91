import App
import Base
import HTTP
import Longfellow
import TestMode
import Vectors

enum VectorsServeHarness {
  static let command = Command(
    "serve-harness", "serve this verifier for mdoc vectors run --against or --exec",
    options: [.listenHarness, .stdio, .circuits],
    notes: [
      "A question is a POST of a response with its circumstances and the anchors' certificates. It does not contain "
        + "the expected verdict. The harness listens on loopback only, since it accepts any keys and anchors.",
      "With --stdio it opens no port: it replies to lines of its standard input until the input ends.",
      "Exit status: 0 stopped by SIGTERM or SIGINT, or at the end of the input, 64 usage, 75 the port is in use.",
    ],
    examples: [
      .init(
        "Run the corpus against this verifier over HTTP",
        "mdoc vectors serve-harness --listen 127.0.0.1:9000 &\nmdoc vectors run --against http://127.0.0.1:9000/"),
      .init("Run it as a program", "mdoc vectors run --exec \"mdoc vectors serve-harness --stdio\""),
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let circuits = try arguments.circuitLibrary()
    if arguments.has(.stdio) {
      await replyToLines(with: HarnessHandler(circuits: circuits), arguments.console)
      return
    }
    let address = try arguments.address(.listenHarness, "127.0.0.1:PORT or [::1]:PORT", where: \.isLoopback)
    StopSignal.install()
    let server = try start(address, circuits: circuits)
    arguments.console.print("http://\(ListenAddress(address: address.address, port: server.port))/")
    await StopSignal.wait()
    await server.stop(drainSeconds: 5)
  }

  /// Writes one reply line for each line of standard input.
  private static func replyToLines(with handler: HarnessHandler, _ console: Console) async {
    while let line = readLine() {
      let reply: JSON
      do {
        reply = try await handler.reply(to: try JSON(parsing: Array(line.utf8)))
      } catch let fault as VectorError {
        reply = ["error": .string(fault.description)]
      } catch {
        reply = ["error": "the question must be JSON"]
      }
      console.print(reply.text())
    }
  }

  static func start(_ address: ListenAddress, circuits: CircuitLibrary? = nil) throws(Failure) -> HTTPServer {
    var configuration = HTTPServerConfiguration()
    configuration.address = address.address
    configuration.port = address.port
    configuration.threads = 2
    // The largest vectors are ten megabytes, and base64 makes them larger.
    configuration.maxBodyBytes = 32 << 20
    configuration.requestDeadline = 60
    do throws(HTTPServerError) {
      return try HTTPServer(
        configuration: configuration, handler: HarnessEndpoint(handler: HarnessHandler(circuits: circuits)))
    } catch {
      throw .temporary("the harness did not start on \(address): \(error)")
    }
  }
}

/// Replies to harness questions over HTTP, on any path.
private struct HarnessEndpoint: HTTPHandler {
  let handler: HarnessHandler

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST" else { return reply(405, ["error": "the question must be a POST"]) }
    guard let question = try? JSON(parsing: request.body) else {
      return reply(400, ["error": "the question must be JSON"])
    }
    do throws(VectorError) {
      return reply(200, try await handler.reply(to: question))
    } catch {
      return reply(400, ["error": .string(error.description)])
    }
  }

  func refusal(_ fault: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
    reply(fault.status, ["error": "refused"])
  }

  private func reply(_ status: Int, _ json: JSON) -> HTTPResponse {
    HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: json.serialized())
  }
}

extension Option {
  fileprivate static let stdio = Option(flag: "stdio", "reply to lines of the standard input instead of listening")
  fileprivate static let listenHarness = Option(
    "listen", "HOST:PORT", "the address to listen on; port 0 takes a free port", fallback: "127.0.0.1:9000")
}

/// Asks another verifier through its harness, over HTTP/1.1 without TLS, with one connection for each question.
struct HarnessClient: Sendable {
  private let host: String
  private let port: UInt16
  private let path: String
  /// The time limit for the harness's reply, in seconds.
  private let patience: Int

  /// Nil if the text is not an `http://` URL.
  init?(_ url: String, patience: Int = 60) {
    self.patience = patience
    guard url.hasPrefix("http://"), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    let rest = url.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    path = authority.count == rest.count ? "/" : String(rest.dropFirst(authority.count))
    let isBracketed = authority.hasPrefix("[")
    let end = isBracketed ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
    let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":")
    let name = authority[..<(colon ?? authority.endIndex)]
    host = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
    guard let port = UInt16(colon.map { authority[authority.index(after: $0)...] } ?? "80") else { return nil }
    self.port = port
    guard !host.isEmpty, !isBracketed || end != nil else { return nil }
  }

  /// Asks one question. The exchange blocks, so it runs on a thread of its own.
  func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VerdictError) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    return try await VerdictError.blocking { () throws(VerdictError) in try judgement(on: question) }
  }

  private func judgement(on question: [UInt8]) throws(VerdictError) -> Judgement {
    let reply: ClientConnection.Reply
    do throws(ClientError) {
      let connection = try ClientConnection(
        host: host, port: port, headers: ["Accept: application/json", "Connection: close"], peer: "the harness",
        patience: patience, limit: 1 << 20)
      // A sending error is ignored, since a harness may reply before it reads the whole question.
      try? connection.send("POST", path, question)
      reply = try connection.receive()
    } catch {
      throw .gone(error.reason)
    }
    guard reply.status == 200 else { throw .other("the harness replied HTTP \(reply.status)") }
    guard let json = try? JSON(parsing: reply.body) else { throw .other("the harness's reply has no verdict") }
    return try Judgement(reply: json)
  }
}

extension VectorsCommand {
  /// Starts a verifier's command, and makes a runner for the cases that the verifier claims to support.
  static func runner(
    of suite: VectorSuite, startedBy command: String, _ arguments: Arguments
  ) async throws(Failure) -> VectorRunner {
    var bounds = HarnessProcess.Bounds()
    bounds.reply = Int(try arguments.integer(.answerSeconds, in: 1...3_600))
    bounds.memory = Int(try arguments.integer(.memory, in: 1...1_048_576)) << 20
    let process = HarnessProcess(command, bounds: bounds)
    let description: HarnessDescription
    do throws(VerdictError) {
      description = try await process.describe()
    } catch {
      guard case .gone(let reason) = error else { throw .temporary("the harness did not start") }
      throw .temporary("\(reason): no case was judged")
    }
    var runner = VectorRunner(suite, subject: description.title) { vector throws(VerdictError) in
      try await process.judge(vector, anchors: suite.anchors)
    }
    runner.description = description
    runner.profiles = description.profiles
    runner.leaves = description.leaves
    return runner
  }
}

extension Arguments {
  var profiles: [VectorProfile] { values(.profile).compactMap(VectorProfile.init) }
}

extension Option {
  static let profile = Option(
    "profile", "PROFILE", "run only the cases of this profile", occurrence: .repeatable,
    choices: VectorProfile.allCases.map(\.rawValue))
  static let leaves = Option(
    "leaves", "RULE", "the verifier leaves this rule to its caller: skip the cases about it", occurrence: .repeatable,
    choices: CallerRule.allCases.map(\.rawValue))
  static let answerSeconds = Option(
    "answer-seconds", "SECONDS", "the time that a command may take for one reply",
    fallback: "\(HarnessProcess.Bounds().reply)")
  static let memory = Option(
    "memory", "MIB", "the resident memory that a command may take",
    fallback: "\(HarnessProcess.Bounds().memory >> 20)")
}
