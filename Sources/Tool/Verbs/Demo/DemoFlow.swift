import Base

/// The calls of a relying party's backend to a server in test mode, over HTTP.
struct DemoFlow: Sendable {
  let client: LoopbackClient

  static let elements = ["given_name", "family_name", "birth_date", "portrait", "document_number"]
  static let age: Int64 = 21

  /// Creates a session; its id.
  func createSession() async throws(LoopbackClient.Fault) -> String {
    let elements = Self.elements.map { name -> JSON in
      ["namespace": "org.iso.18013.5.1", "identifier": .string(name)]
    }
    let body: JSON = [
      "protocols": ["apple-in-app"],
      "documents": [
        [
          "doc_type": "org.iso.18013.5.1.mDL", "elements": .array(elements), "age_over": [.integer(Self.age)],
          "minimum_age": .integer(Self.age),
        ]
      ],
    ]
    let reply = try await client.post("/v1/verification_sessions", body)
    guard reply.status == 201, let id = reply.body["id"]?.string else { throw unexpected("create a session", reply) }
    return id
  }

  /// The mock wallet's answer to a session, ready to submit.
  func mockAnswer(to session: String, variant: String) async throws(LoopbackClient.Fault) -> JSON {
    let reply = try await client.post(
      "/v1/test/mock_responses", ["session": .string(session), "variant": .string(variant)])
    guard reply.status == 200, reply.body["data"] != nil else { throw unexpected("ask the mock wallet", reply) }
    return reply.body
  }

  /// Hands an answer in.
  func submit(_ answer: JSON, to session: String) async throws(LoopbackClient.Fault) -> LoopbackClient.Reply {
    try await client.post("/v1/verification_sessions/\(session)/submit", answer)
  }

  private func unexpected(_ purpose: String, _ reply: LoopbackClient.Reply) -> LoopbackClient.Fault {
    LoopbackClient.Fault(reason: "could not \(purpose): HTTP \(reply.status) \(reply.code ?? "")")
  }
}
