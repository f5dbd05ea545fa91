import App
import Base
import Bench
import HTTP
import Longfellow
import Vectors

/// `mdoc vectors serve-harness`: serves this verifier as a harness, as an example for others and for our own tests.
enum VectorsServeHarness {
  static let command = Command(
    "serve-harness", "serve this verifier for mdoc vectors run --against or --exec",
    options: [.listenHarness, .stdio, .circuits],
    notes: [
      "A question is a POST of an answer with its circumstances and the anchors' certificates, and without anything that "
        + "tells the verdict. Loopback only: it judges by whatever keys and anchors it is given.",
      "With --stdio it listens nowhere: it answers lines of its standard input, until that ends.",
      "Exit status: 0 stopped by SIGTERM or SIGINT, or at the end of the input, 64 usage, 75 the port cannot be had.",
    ],
    examples: [
      .init(
        "Ours held to the corpus by way of HTTP",
        "mdoc vectors serve-harness --listen 127.0.0.1:9000 &\nmdoc vectors run --against http://127.0.0.1:9000/"),
      .init("As a program", "mdoc vectors run --exec \"mdoc vectors serve-harness --stdio\""),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let circuits = try CircuitFiles.library(arguments.value(.circuits))
    if arguments.has(.stdio) {
      await answerLines(with: HarnessHandler(circuits: circuits), console)
      return .done
    }
    let text = try arguments.required(.listenHarness)
    guard let address = ListenAddress(text), address.isLoopback else {
      throw .usage("--listen is 127.0.0.1:PORT or [::1]:PORT, not \"\(text)\"")
    }
    StopSignal.install()
    let server = try start(address, circuits: circuits)
    console.print("http://\(ListenAddress(address: address.address, port: server.port))/")
    await StopSignal.wait()
    await server.stop(drainSeconds: 5)
    return .done
  }

  /// Answers each line of the standard input with one.
  private static func answerLines(with handler: HarnessHandler, _ console: Console) async {
    while let line = readLine() {
      let answer: JSON
      do {
        answer = try await handler.answer(try JSON(parsing: Array(line.utf8)))
      } catch let fault as VectorFault {
        answer = ["error": .string(fault.description)]
      } catch {
        answer = ["error": "is no JSON"]
      }
      console.print(answer.text())
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

/// Answers harness questions over HTTP, on any path.
private struct HarnessEndpoint: HTTPHandler {
  let handler: HarnessHandler

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST" else { return reply(405, ["error": "a question is a POST"]) }
    guard let question = try? JSON(parsing: request.body) else { return reply(400, ["error": "is no JSON"]) }
    do throws(VectorFault) {
      return reply(200, try await handler.answer(question))
    } catch {
      return reply(400, ["error": .string(error.description)])
    }
  }

  func refusal(_ fault: HTTPFault, of request: HTTPRequest?) -> HTTPResponse {
    reply(fault.status, ["error": "refused"])
  }

  private func reply(_ status: Int, _ json: JSON) -> HTTPResponse {
    HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: json.serialized())
  }
}

extension Option {
  fileprivate static let stdio = Option(flag: "stdio", "answer lines of the standard input instead of listening")
  fileprivate static let listenHarness = Option(
    "listen", "HOST:PORT", "where to listen; port 0 is a free one", fallback: "127.0.0.1:9000")
}

/// Asks another verifier through its harness, over HTTP/1.1 without TLS, with one connection for each question.
struct HarnessClient: Sendable {
  private let host: String
  private let port: UInt16
  private let path: String
  /// Seconds after which a silent harness counts as gone.
  private let patience: Int

  /// Nil if the text is no `http://` URL.
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
  func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VectorRunner.NoVerdict) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    let result = Locked<Result<Judgement, VectorRunner.NoVerdict>>(.failure(.gone("no thread for the call")))
    await BackgroundThread.run {
      do throws(VectorRunner.NoVerdict) {
        let judgement = try judgement(on: question)
        result.withLock { $0 = .success(judgement) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    return try result.withLock { $0 }.get()
  }

  private func judgement(on question: [UInt8]) throws(VectorRunner.NoVerdict) -> Judgement {
    let reply: ClientConnection.Reply
    do throws(ClientConnection.Fault) {
      let connection = try ClientConnection(
        host: host, port: port, headers: ["Accept: application/json", "Connection: close"], peer: "the harness",
        patience: patience, limit: 1 << 20)
      // A send error is ignored: a harness may answer before it has read everything.
      try? connection.send("POST", path, question)
      reply = try connection.receive()
    } catch {
      throw .gone(error.reason)
    }
    guard reply.status == 200 else { throw .other("the harness answered HTTP \(reply.status)") }
    guard let json = try? JSON(parsing: reply.body) else { throw .other("the harness's reply has no verdict") }
    return try Judgement(answer: json)
  }
}
