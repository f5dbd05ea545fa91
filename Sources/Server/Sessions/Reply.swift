import Base

/// What a use case answers, ready for the wire.
package struct Reply: Sendable {
  /// 200 or 201.
  package let status: Int
  package let text: JSONText
  /// Whose session it shows, where it shows one.
  package let session: SessionID?
  /// What came of the attempt, where it tells of one that ended.
  package let ending: Ending?
  /// Whether it was kept under an Idempotency-Key and is given again.
  package let isReplay: Bool

  /// How an attempt ended; with the code, where it failed or the wallet canceled it.
  package struct Ending: Sendable {
    package let status: SessionStatus
    package let code: Code?

    init(_ state: SessionState) {
      status = state.status
      code = state.lastError.flatMap { Code(rawValue: $0.code) }
    }
  }

  init(_ status: Int, _ body: JSON, session: SessionID? = nil, ending: Ending? = nil, isReplay: Bool = false) {
    self.status = status
    text = JSONText(body)
    self.session = session
    self.ending = ending
    self.isReplay = isReplay
  }
}
