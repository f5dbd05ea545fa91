import Base
import Testing

@testable import Load
@testable import TestMode

/// The rules by which `load nodes` checks the nodes' acknowledgements.
@Suite struct AccountTests {
  private static func entry(
    _ replies: [LedgerReply], _ end: LedgerEntry.End, events: Int? = nil
  ) -> LedgerEntry {
    var entry = LedgerEntry(session: "vs_1", nodes: [0], replies: replies)
    entry.end = end
    entry.verifiedEvents = events ?? (end == .verified ? 1 : 0)
    return entry
  }

  @Test func `an answer that one submit was accepted for and the other not is as it must be`() {
    let account = Account([Self.entry([.alreadyUsed, .verified], .verified)])
    #expect(account.isKept && account.verifiedOnce == 1 && account.acknowledged == 1)
    #expect(account.replies == ["verified": 1, "session.already_used": 1] && account.inDoubt.isEmpty)
  }

  @Test func `an answer that two submits were accepted for is noticed`() {
    let account = Account([Self.entry([.verified, .verified], .verified)])
    #expect(account.broken == [.acceptedTwice: 1] && account.verifiedOnce == 0 && !account.isKept)
    #expect(account.examples[.acceptedTwice] == "vs_1")
  }

  @Test func `an answer that is accepted again long after is noticed`() {
    let account = Account([Self.entry([.verified, .unavailable, .verified, .alreadyUsed], .verified)])
    #expect(account.broken == [.acceptedTwice: 1])
  }

  @Test(arguments: [LedgerEntry.End.ended("failed: session.interrupted"), .ended("expired")])
  func `a verification that was acknowledged and is none is noticed`(end: LedgerEntry.End) {
    #expect(Account([Self.entry([.verified, .alreadyUsed], end)]).broken == [.lost: 1])
  }

  @Test func `a challenge that is open again after its answer was accepted is lost and unsettled`() {
    let account = Account([Self.entry([.verified, .alreadyUsed], .requiresInput)])
    #expect(account.broken == [.lost: 1, .unsettled: 1])
  }

  @Test func `a session that was created and is gone is noticed`() {
    #expect(Account([Self.entry([.unavailable, .unanswered], .unknown)]).broken == [.vanished: 1])
  }

  @Test func `a challenge that every submit was refused as used is noticed`() {
    let end = LedgerEntry.End.ended("failed: session.interrupted")
    #expect(Account([Self.entry([.alreadyUsed, .alreadyUsed], end)]).broken == [.takenByNobody: 1])
    #expect(Account([Self.entry([.alreadyUsed, .unanswered], end)]).isKept)
    #expect(Account([Self.entry([.alreadyUsed, .interrupted], end)]).isKept)
  }

  @Test(arguments: [LedgerEntry.End.requiresInput, .processing, .unread])
  func `a session that does not end is noticed`(end: LedgerEntry.End) {
    #expect(Account([Self.entry([.unavailable, .unavailable], end)]).broken == [.unsettled: 1])
  }

  @Test(arguments: [0, 2]) func `a verified session needs one event that says so`(events: Int) {
    let account = Account([Self.entry([.verified, .alreadyUsed], .verified, events: events)])
    #expect(account.broken == [.wrongEvents: 1])
  }

  @Test func `an event of a session that is not verified is noticed`() {
    let end = LedgerEntry.End.ended("failed: session.interrupted")
    #expect(Account([Self.entry([.unavailable, .alreadyUsed], end, events: 1)]).broken == [.wrongEvents: 1])
  }

  @Test(arguments: [
    (500, "api.internal"), (410, "session.expired"), (409, "session.canceled"), (401, "api.unauthorized"),
  ])
  func `errors other than 503 are noticed`(status: Int, code: String) {
    let reply = Self.reply(status, ["code": .string(code)])
    #expect(Account([Self.entry([.verified, reply], .verified)]).broken == [.wrongReply: 1])
  }

  @Test func `an answer that is not accepted is noticed, but while clocks are wrong`() {
    let failed = Self.reply(200, ["status": "failed", "last_error": ["code": "mdoc.validity.expired"]])
    var entry = Self.entry([failed, .alreadyUsed], .ended("failed: mdoc.validity.expired"))
    #expect(Account([entry], mayFail: true).broken == [.wrongReply: 1])
    entry.isDisturbed = true
    #expect(Account([entry]).broken == [.wrongReply: 1])
    #expect(Account([entry], mayFail: true).isKept)
    let expired = Self.reply(410, ["code": "session.expired"])
    entry = Self.entry([expired, expired], .ended("expired"))
    entry.isDisturbed = true
    #expect(Account([entry], mayFail: true).isKept)
  }

  @Test func `what became of a request without an acknowledgement is told and breaks no rule`() {
    let account = Account([
      Self.entry([.unavailable, .unanswered], .verified),
      Self.entry([.unavailable, .alreadyUsed], .ended("failed: session.interrupted")),
    ])
    #expect(account.isKept && account.acknowledged == 0)
    #expect(account.inDoubt == ["verified": 1, "failed: session.interrupted": 1])
    #expect(account.replies == ["HTTP 503": 2, "no reply": 1, "session.already_used": 1])
  }

  @Test func `replies are what they say`() {
    #expect(Self.reply(200, ["status": "verified"]) == .verified)
    #expect(Self.reply(409, ["code": "session.already_used"]) == .alreadyUsed)
    #expect(Self.reply(503, ["code": "api.store_unavailable"]) == .unavailable)
    #expect(Self.reply(200, ["status": "failed", "last_error": ["code": "session.interrupted"]]) == .interrupted)
    #expect(Self.reply(200, ["status": "processing"]) == .wrong("HTTP 200 processing"))
    #expect(LedgerReply(nil) == .unanswered)
  }

  private static func reply(_ status: Int, _ body: JSON) -> LedgerReply {
    LedgerReply(ClientConnection.Reply(status: status, body: body.serialized(), closes: false))
  }
}
