import App
import Base
import TestMode

/// `mdoc demo`: starts a server in test mode, and shows one accepted and three rejected responses, over real HTTP.
enum DemoCommand {
  static let command = Command(
    "demo", "show a whole verification over HTTP with a mock wallet, and rejected responses", options: [.json],
    notes: [
      "The demo starts a server in test mode on a free loopback port with a temporary SQLite file. At the end it stops "
        + "the server and deletes the file. No verified data are real.",
      "Exit status: 0 every reply was as expected, 70 a reply was unexpected, 75 the server could not start.",
    ],
    examples: [
      .init("Show a verification", "mdoc demo"), .init("Print the sessions of the HTTP API", "mdoc demo --json"),
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let mode: TestServer
    do throws(StartError) {
      mode = try TestServer.start()
    } catch {
      throw .temporary("the server did not start: \(error.message)")
    }
    let script = DemoScript(
      client: LoopbackClient(port: mode.server.listen.port, token: mode.apiKey), console: arguments.console,
      printsJSON: arguments.has(.json))
    let fault: ClientError?
    do throws(ClientError) {
      try await script.run(at: mode.baseURL)
      fault = nil
    } catch {
      fault = error
    }
    await mode.server.stop()
    if let fault { throw .internal("the demonstration failed: \(fault.reason)") }
    script.say("The server is stopped and its store deleted.")
  }
}

/// The steps of `mdoc demo`: the calls of a relying party's backend, each with its explanation. The demonstration stops
/// at the first unexpected reply.
struct DemoScript {
  let client: LoopbackClient
  let console: Console
  let printsJSON: Bool

  private static let elements = ["given_name", "family_name", "birth_date", "portrait", "document_number"]
  private static let age: Int64 = 21

  func run(at url: String) async throws(ClientError) {
    say("A server in test mode runs at \(url), with its own mock issuing authority.\n")
    let first = try await createSession()
    step("A backend asks for \(Self.elements.joined(separator: ", ")) and an age of at least \(Self.age).")
    say("   POST /v1/verification_sessions → \(first)")
    let response = try await mockResponse(to: first, variant: "good")
    step("A mock iPhone sends a response for this session, encrypted to the backend's key.")
    say("   POST /v1/test/mock_responses → \(response["data"]?["encrypted_data"]?.string?.utf8.count ?? 0) characters")
    step("The backend submits the response, and gets the verified elements that it asked for.")
    let verified = try await submit(response, to: first)

    let second = try await createSession()
    let changed = try await mockResponse(to: second, variant: "element-changed")
    step("Another response is rejected: a value was changed after the issuer had signed it.")
    let tampered = try await submit(changed, to: second, code: .digestMismatch)

    step("The first response is rejected the second time: a challenge can be used only once.")
    let replayed = try await submit(response, to: first, status: 409, code: .sessionAlreadyUsed)

    let third = try await createSession()
    step("The first response is rejected in another session: it is bound to its own session's nonce.")
    let elsewhere = try await submit(response, to: third, code: .envelopeTranscriptMismatch)
    guard printsJSON else { return }
    console.print(
      ["verified": verified, "tampered": tampered, "replayed": replayed, "replayed_elsewhere": elsewhere] as JSON)
  }

  // MARK: Calls

  func createSession() async throws(ClientError) -> String {
    let elements = Self.elements.map { name -> JSON in ["namespace": "org.iso.18013.5.1", "identifier": .string(name)] }
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

  /// The mock wallet's response, ready to submit.
  func mockResponse(to session: String, variant: String) async throws(ClientError) -> JSON {
    let reply = try await client.post(
      "/v1/test/mock_responses", ["session": .string(session), "variant": .string(variant)])
    guard reply.status == 200, reply.body["data"] != nil else { throw unexpected("ask the mock wallet", reply) }
    return reply.body
  }

  private func unexpected(_ purpose: String, _ reply: LoopbackClient.Reply) -> ClientError {
    ClientError(reason: "could not \(purpose): HTTP \(reply.status) \(reply.code ?? "")")
  }

  /// - Returns: the reply, which must have this status and code.
  private func submit(
    _ response: JSON, to session: String, status: Int = 200, code: Code? = nil
  ) async throws(ClientError) -> JSON {
    let path = "/v1/verification_sessions/\(session)/submit"
    let reply = try await client.post(path, response)
    say("   POST \(path) → \(reply.status) \(reply.body["status"]?.string ?? reply.code ?? "")")
    let verdict = VerdictText(json: reply.body)
    if code == nil {
      let printer = TextPrinter(width: console.width, isColored: console.isColored, folds: true)
      say("\n" + printer.text(verdict.report) + "\n")
    } else {
      let problem: [Report] = [
        .line(.bold(reply.code ?? "")), .line("  \(reply.body["detail"]?.string ?? "")"),
      ]
      let text = TextPrinter(width: console.width - 3, isColored: console.isColored)
        .text(status == 200 ? verdict.headline : problem)
      say(text.split(separator: "\n").map { "   " + $0 }.joined(separator: "\n") + "\n")
    }
    guard reply.status == status, reply.code == code?.rawValue else {
      throw ClientError(
        reason: "HTTP \(reply.status) \(reply.code ?? "verified") where \(code?.rawValue ?? "verified") was due")
    }
    return reply.body
  }

  // MARK: Text

  func say(_ text: String) {
    if !printsJSON { console.print(text) }
  }

  private func step(_ text: String) {
    if !printsJSON { console.print([.text([.bold(text)], lead: [.bold("▸ ")], hanging: 2)]) }
  }
}
