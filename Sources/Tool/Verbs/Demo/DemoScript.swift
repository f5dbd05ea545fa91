import Base

/// What `mdoc demo` does and says, step by step. A step that does not end as it must ends the demonstration.
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
