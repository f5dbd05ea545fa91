import Base
import Mdoc
import Testing

@testable import Mock

/// A document's own expiry date, as distinct from the validity of the issuer's signature.
@Suite struct ExpiryTests {
  let attack: Attack
  let request: PresentationRequest

  init() throws {
    var attack = try Attack(docTypes: [DocType.mDL])
    let expired = attack.now - 10 * Seconds.day
    attack.documents[0][MockNamespace.mDL, "expiry_date"] = .fullDate(expired.date)
    attack.mock = .withExpiryDate
    self.attack = attack
    var request = Attack.request
    request.documents[0].elements.append(ElementRequest(ElementReference(Namespace.mDL, "expiry_date")))
    self.request = request
  }

  private func outcome(_ verdict: Verdict) -> Check.Outcome? {
    verdict.report.documents.first?.checks.first { $0.code == .documentExpired }?.outcome
  }

  @Test func `an expired document is refused by default`() throws {
    let verdict = try attack.verify(attack.response(.none), request: request)
    #expect(verdict.accepted == nil)
    #expect(verdict.report.reasons.map(\.code) == [.documentExpired])
  }

  @Test func `a request may accept it, with a warning, but not in strict mode`() throws {
    var accepting = request
    accepting.documents[0].acceptsExpired = true
    let response = try attack.response(.none)
    let verdict = attack.verify(response, request: accepting)
    #expect(verdict.accepted != nil && outcome(verdict) == .warning)
    let strict = attack.verify(response, request: accepting, isStrict: true)
    #expect(strict.report.reasons.map(\.code).contains(.documentExpired))
  }

  @Test func `without a request it warns`() throws {
    let verdict = try attack.verify(attack.response(.none), request: nil)
    #expect(verdict.accepted != nil && outcome(verdict) == .warning)
  }

  @Test func `a date that was not returned is not judged`() throws {
    let verdict = try Attack(docTypes: [DocType.mDL])
    #expect(outcome(try verdict.verify(verdict.response(.none), request: Attack.request)) == .notRun)
  }
}
