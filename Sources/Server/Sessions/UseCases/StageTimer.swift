import Base

/// A part of the way of one answer, from its challenge's consumption to its outcome's commit.
package enum VerificationStage: String, Sendable, Hashable, CaseIterable {
  /// The challenge is taken and the commit waited for.
  case consume
  /// The envelope is opened and the response parsed.
  case open
  /// Signatures, digests, trust.
  case verify
  /// Publishers of revocation are asked; answers that name none have no such stage.
  case revocation
  /// The rules of acceptance, the result and its sealing.
  case conclude
  /// The outcome is recorded and the commit waited for.
  case outcome
}

/// Tells how long each stage of one attempt took.
final class StageTimer: Sendable {
  private struct State {
    var start = ContinuousClock.now
    var last: VerificationStage?
  }

  private let state = Locked(State())
  private let observe: @Sendable (VerificationStage, Double) -> Void

  init(_ observe: @escaping @Sendable (VerificationStage, Double) -> Void) { self.observe = observe }

  /// Ends a stage that began where the one before ended; a second end of the same is none.
  func end(_ stage: VerificationStage) {
    let now = ContinuousClock.now
    let seconds = state.withLock { state -> Double? in
      guard state.last != stage else { return nil }
      defer { state = State(start: now, last: stage) }
      return (now - state.start) / .seconds(1)
    }
    if let seconds { observe(stage, seconds) }
  }

  /// Ends a stage, or where the one before it was never ended, that one: an answer that does not open is not verified.
  func end(_ stage: VerificationStage, unlessOpened before: VerificationStage) {
    end(state.withLock { $0.last } == before ? stage : before)
  }
}
