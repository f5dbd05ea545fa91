import App
import Base
import Bench
import TestMode

/// `mdoc demo`: starts a server in test mode, and shows one good answer and three refused ones over real HTTP.
enum DemoCommand {
  static let command = Command(
    "demo", "show a whole verification over HTTP, with a mock wallet, and answers that are refused",
    options: [.json],
    notes: [
      "It starts a server in test mode on a free loopback port with a temporary SQLite file, and stops it at the end. "
        + "Nothing is left behind, and nothing that it verifies is real.",
      "Exit status: 0 all went as it must, 70 something did not, 75 the server could not start.",
    ],
    examples: [
      .init("See it work", "mdoc demo"),
      .init("The sessions as the HTTP API returns them", "mdoc demo --json"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let mode: TestServer
    do throws(StartError) {
      mode = try TestServer.start()
    } catch {
      throw .temporary("the server did not start: \(error.message)")
    }
    let flow = DemoFlow(client: LoopbackClient(port: mode.server.listen.port, token: mode.apiKey))
    let script = DemoScript(flow: flow, console: console, printsJSON: arguments.has(.json))
    let fault: LoopbackClient.Fault?
    do throws(LoopbackClient.Fault) {
      try await script.run(at: mode.baseURL)
      fault = nil
    } catch {
      fault = error
    }
    await mode.server.stop()
    if let fault { throw .internal("the demonstration failed: \(fault.reason)") }
    script.say("The server is stopped, its store removed.")
    return .done
  }
}

/// The calls that a relying party's backend makes, over HTTP to a server in test mode.
struct DemoFlow: Sendable {
  let client: LoopbackClient

  static let elements = ["given_name", "family_name", "birth_date", "portrait", "document_number"]
  static let age: Int64 = 21

  /// Creates a session and returns its id.
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

  /// Submits an answer to a session.
  func submit(_ answer: JSON, to session: String) async throws(LoopbackClient.Fault) -> LoopbackClient.Reply {
    try await client.post("/v1/verification_sessions/\(session)/submit", answer)
  }

  private func unexpected(_ purpose: String, _ reply: LoopbackClient.Reply) -> LoopbackClient.Fault {
    LoopbackClient.Fault(reason: "could not \(purpose): HTTP \(reply.status) \(reply.code ?? "")")
  }
}

/// The steps of `mdoc demo` and their texts. The demonstration stops at the first step that does not end as it must.
struct DemoScript {
  let flow: DemoFlow
  let console: Console
  let printsJSON: Bool

  private var style: Style { Style(isColored: console.isColored) }

  func run(at url: String) async throws(LoopbackClient.Fault) {
    say("A server in test mode runs at \(url), with a mock issuing authority of its own.\n")
    let (first, answer, verified) = try await goodAnswer()
    let tampered = try await tamperedAnswer()
    let replayed = try await replays(of: answer, answered: first)
    if printsJSON {
      console.print(
        .object([.init("verified", verified), .init("tampered", tampered)] + replayed.map { .init($0.name, $0.reply) }))
    }
  }

  private func goodAnswer() async throws(LoopbackClient.Fault) -> (session: String, answer: JSON, reply: JSON) {
    let session = try await flow.createSession()
    step("A backend asks for \(DemoFlow.elements.joined(separator: ", ")) and an age of at least \(DemoFlow.age).")
    say("   POST /v1/verification_sessions → \(session)")
    let answer = try await flow.mockAnswer(to: session, variant: "good")
    step("A mock iPhone answers, encrypted to the backend's key, for this session alone.")
    say("   POST /v1/test/mock_responses → \(answer["data"]?["encrypted_data"]?.string?.utf8.count ?? 0) characters")
    step("The backend hands the answer in, and gets what it asked for, verified.")
    let reply = try await flow.submit(answer, to: session)
    show(reply, submittedTo: session)
    say("\n" + VerdictText(json: reply.body, width: console.width, style: style).text + "\n")
    try require(reply, status: 200, code: nil)
    return (session, answer, reply.body)
  }

  private func tamperedAnswer() async throws(LoopbackClient.Fault) -> JSON {
    let session = try await flow.createSession()
    let answer = try await flow.mockAnswer(to: session, variant: "element-changed")
    step("Another answer, in which a value was changed after the issuer had signed it, is refused.")
    let reply = try await flow.submit(answer, to: session)
    show(reply, submittedTo: session)
    say(verdict(reply) + "\n")
    try require(reply, status: 200, code: .digestMismatch)
    return reply.body
  }

  private func replays(
    of answer: JSON, answered session: String
  ) async throws(LoopbackClient.Fault) -> [(name: String, reply: JSON)] {
    step("The first answer once more, to its own session, is refused: a challenge is answered once.")
    let again = try await flow.submit(answer, to: session)
    show(again, submittedTo: session)
    say(problem(again) + "\n")
    try require(again, status: 409, code: .sessionAlreadyUsed)

    let another = try await flow.createSession()
    step("The first answer to another session is refused: it is bound to the nonce that it answered.")
    let elsewhere = try await flow.submit(answer, to: another)
    show(elsewhere, submittedTo: another)
    say(verdict(elsewhere) + "\n")
    try require(elsewhere, status: 200, code: .envelopeTranscriptMismatch)
    return [("replayed", again.body), ("replayed_elsewhere", elsewhere.body)]
  }

  func say(_ text: String) {
    if !printsJSON { console.print(text) }
  }

  private func step(_ text: String) { say(style("▸ " + Wrapping.wrap(text, indent: 2, width: console.width), .bold)) }

  private func show(_ reply: LoopbackClient.Reply, submittedTo session: String) {
    let outcome = reply.body["status"]?.string ?? reply.code ?? ""
    say("   POST /v1/verification_sessions/\(session)/submit → \(reply.status) \(outcome)")
  }

  private func verdict(_ reply: LoopbackClient.Reply) -> String {
    let text = VerdictText(json: reply.body, width: console.width - 3, style: style).headline
    return text.split(separator: "\n").map { "   " + $0 }.joined(separator: "\n")
  }

  private func problem(_ reply: LoopbackClient.Reply) -> String {
    "   " + style(reply.code ?? "", .bold) + "\n     " + Printable.line(reply.body["detail"]?.string ?? "")
  }

  private func require(_ reply: LoopbackClient.Reply, status: Int, code: Code?) throws(LoopbackClient.Fault) {
    guard reply.status == status, reply.code == code?.rawValue else {
      throw LoopbackClient.Fault(
        reason: "HTTP \(reply.status) \(reply.code ?? "verified") where \(code?.rawValue ?? "verified") was due")
    }
  }
}
