import Base

/// What a use case answers, ready for the wire.
public struct Reply: Sendable {
  /// 200 or 201.
  public let status: Int
  public let text: JSONText
  /// Whose session it shows, where it shows one.
  public let session: SessionID?
  /// What came of the attempt, where it tells of one that ended.
  public let ending: Ending?
  /// Whether it was kept under an Idempotency-Key and is given again.
  public let isReplay: Bool

  /// How an attempt ended; with the code, where it failed or the wallet canceled it.
  public struct Ending: Sendable {
    public let status: SessionStatus
    public let code: Code?

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
