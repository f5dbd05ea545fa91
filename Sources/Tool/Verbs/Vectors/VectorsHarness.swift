import App
import Base
import Glibc
import HTTP
import Vectors

/// `mdoc vectors serve-harness`: this verifier behind the harness, as an example for others and for our own tests.
enum VectorsServeHarness {
  static let command = Command(
    "serve-harness", "serve this verifier for mdoc vectors run --against",
    options: [.listenHarness],
    notes: [
      "A question is a POST of a vector without flags and expectation, the input in full and the anchors' "
        + "certificates with it. Loopback only: it judges by whatever keys and anchors it is given.",
      "Exit status: 0 stopped by SIGTERM or SIGINT, 64 usage, 75 the port cannot be had.",
    ],
    examples: [
      .init(
        "Ours held to the corpus by way of HTTP",
        "mdoc vectors serve-harness --listen 127.0.0.1:9000 &\nmdoc vectors run --against http://127.0.0.1:9000/")
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let text = try arguments.required(.listenHarness)
    guard let address = ListenAddress(text), address.isLoopback else {
      throw .usage("--listen is 127.0.0.1:PORT or [::1]:PORT, not \"\(text)\"")
    }
    StopSignal.install()
    let server = try start(address)
    console.print("http://\(ListenAddress(address: address.address, port: server.port))/")
    await StopSignal.wait()
    await server.stop(drainSeconds: 5)
    return .done
  }

  static func start(_ address: ListenAddress) throws(Failure) -> HTTPServer {
    var configuration = HTTPServerConfiguration()
    configuration.address = address.address
    configuration.port = address.port
    configuration.threads = 2
    // The largest vectors are ten megabytes, in base64.
    configuration.maxBodyBytes = 32 << 20
    configuration.requestDeadline = 60
    do throws(HTTPServerError) {
      return try HTTPServer(configuration: configuration, handler: HarnessEndpoint())
    } catch {
      throw .temporary("the harness did not start on \(address): \(error)")
    }
  }
}

/// Questions over HTTP, on any path.
private struct HarnessEndpoint: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "POST" else { return reply(405, ["error": "a question is a POST"]) }
    guard let question = try? JSON(parsing: request.body) else { return reply(400, ["error": "is no JSON"]) }
    do throws(VectorFault) {
      return reply(200, try await HarnessHandler.answer(question))
    } catch {
      return reply(400, ["error": .string(error.description)])
    }
  }

  func refusal(_ fault: HTTPFault) -> HTTPResponse { reply(fault.status, ["error": "refused"]) }

  private func reply(_ status: Int, _ json: JSON) -> HTTPResponse {
    HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: json.serialized())
  }
}

extension Option {
  fileprivate static let listenHarness = Option(
    "listen", "HOST:PORT", "where to listen; port 0 is a free one", fallback: "127.0.0.1:9000")
}

/// Asks another verifier through its harness: HTTP/1.1 without TLS, one connection a question.
struct HarnessClient: Sendable {
  private let host: String
  private let port: String
  private let path: String

  /// Nil for what is no `http://` URL.
  init?(_ url: String) {
    guard url.hasPrefix("http://"), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    let rest = url.dropFirst("http://".count)
    let authority = rest.prefix { $0 != "/" }
    path = authority.count == rest.count ? "/" : String(rest.dropFirst(authority.count))
    let isBracketed = authority.hasPrefix("[")
    let end = isBracketed ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
    let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":")
    let name = authority[..<(colon ?? authority.endIndex)]
    host = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
    port = colon.map { String(authority[authority.index(after: $0)...]) } ?? "80"
    guard !host.isEmpty, UInt16(port) != nil, !isBracketed || end != nil else { return nil }
  }

  /// The exchange blocks, so it has a thread of its own.
  func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VectorRunner.NoVerdict) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    let reply = Locked<Result<[UInt8], VectorRunner.NoVerdict>>(.failure(.init(reason: "no thread for the call")))
    await BackgroundThread.run {
      do throws(VectorRunner.NoVerdict) {
        let bytes = try exchange(request(question))
        reply.withLock { $0 = .success(bytes) }
      } catch {
        reply.withLock { $0 = .failure(error) }
      }
    }
    return try judgement(in: reply.withLock { $0 }.get())
  }

  private func request(_ content: [UInt8]) -> [UInt8] {
    let name = host.contains(":") ? "[\(host)]" : host
    let head = [
      "POST \(path) HTTP/1.1", "Host: \(name):\(port)", "Content-Type: application/json",
      "Accept: application/json", "Content-Length: \(content.count)", "Connection: close",
    ]
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + content
  }

  private func judgement(in bytes: [UInt8]) throws(VectorRunner.NoVerdict) -> Judgement {
    let end = Array("\r\n\r\n".utf8)
    guard let split = bytes.indices.first(where: { bytes[$0] == end[0] && bytes[$0...].starts(with: end) }) else {
      throw .init(reason: "the harness's reply is no HTTP")
    }
    let head = String(decoding: bytes[..<split], as: UTF8.self)
    let status = head.split(separator: " ").dropFirst().first ?? ""
    guard status == "200" else { throw .init(reason: "the harness answered HTTP \(status)") }
    guard let json = try? JSON(parsing: Array(bytes[(split + end.count)...])),
      let judgement = Judgement(harnessAnswer: json)
    else { throw .init(reason: "the harness's reply has no verdict") }
    return judgement
  }

  // MARK: Socket

  private func exchange(_ request: [UInt8]) throws(VectorRunner.NoVerdict) -> [UInt8] {
    let descriptor = try connected()
    defer { close(descriptor) }
    var rest = request[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      // A harness may answer before it has read everything.
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    var reply: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while reply.count < 1 << 20 {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { break }
      reply += chunk[..<count]
    }
    guard !reply.isEmpty else { throw .init(reason: "the harness gave no reply") }
    return reply
  }

  private func connected() throws(VectorRunner.NoVerdict) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0 else { throw .init(reason: "there is no host \(host)") }
    defer { freeaddrinfo(found) }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    var next = found
    while let address = next?.pointee {
      next = address.ai_next
      let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { continue }
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
      close(descriptor)
    }
    throw .init(reason: "no connection to \(host) port \(port)")
  }
}
