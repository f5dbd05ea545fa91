import Base

/// One connection with the answers that it is to hand in.
// Sendable by use: one thread at a time runs it, and the benchmark waits for all of them before the next step.
final class ServerBenchmarkWorker: @unchecked Sendable {
  /// A submit's body, and the session that it answers.
  typealias Answer = (session: String, body: [UInt8])

  private let port: UInt16
  private let token: String
  private var connection: KeptConnection?
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

  /// Creates sessions and has the mock wallet answer them.
  func prepare(_ count: Int) throws(KeptConnection.Fault) {
    for _ in 0..<count {
      let created = try call("/v1/verification_sessions", Self.requestBytes, status: 201)
      guard let session = (try? JSON(parsing: created))?["id"]?.string else {
        throw KeptConnection.Fault(reason: "a session without an id")
      }
      let wanted: JSON = ["session": .string(session), "variant": "good"]
      answers.append((session, try call("/v1/test/mock_responses", wanted.serialized(), status: 200)))
    }
  }

  func submit() throws(KeptConnection.Fault) {
    for (session, body) in answers {
      let start = CPUClock.wall()
      let reply = try call("/v1/verification_sessions/\(session)/submit", body, status: 200)
      latencies.append(CPUClock.wall() - start)
      guard (try? JSON(parsing: reply))?["status"]?.string == "verified" else {
        throw KeptConnection.Fault(reason: "an answer was not verified")
      }
    }
    answers.removeAll(keepingCapacity: true)
  }

  private func call(_ path: String, _ body: [UInt8], status: Int) throws(KeptConnection.Fault) -> [UInt8] {
    let connection = try openConnection()
    let reply = try connection.post(path, body)
    guard reply.status == status else {
      throw KeptConnection.Fault(reason: "HTTP \(reply.status) where \(status) was due, at \(path)")
    }
    return reply.body
  }

  private func openConnection() throws(KeptConnection.Fault) -> KeptConnection {
    if let connection { return connection }
    let opened = try KeptConnection(port: port, token: token)
    connection = opened
    return opened
  }

  /// A creation's body. Its answer may wait: it is made before the clock runs.
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
