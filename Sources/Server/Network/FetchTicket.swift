import Base
import Trust

/// One call's place in the queue: what it wants, and who waits for it. It ends once, by whichever comes first: the
/// answer, the time limit, or the cancellation of its task.
final class FetchTicket: Sendable {
  typealias Answer = Result<WebAnswer, FetchError>

  let address: ListAddress
  let request: WebRequest
  let rules: FetchRules
  let deadline: ContinuousClock.Instant
  private let state = Locked(State.new)

  private enum State {
    case new
    case awaited(CheckedContinuation<Answer, Never>)
    case ended(Answer)
  }

  init(
    _ address: ListAddress, _ request: WebRequest = .list, rules: FetchRules, deadline: ContinuousClock.Instant
  ) {
    self.address = address
    self.request = request
    self.rules = rules
    self.deadline = deadline
  }

  var isEnded: Bool {
    state.withLock { if case .ended = $0 { true } else { false } }
  }

  /// A task that was cancelled before it came here has its answer already.
  func await(_ continuation: CheckedContinuation<Answer, Never>) {
    let early: Answer? = state.withLock { state in
      if case .ended(let answer) = state { return answer }
      state = .awaited(continuation)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  func end(with answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      switch state {
      case .new:
        state = .ended(answer)
        return nil
      case .awaited(let continuation):
        state = .ended(answer)
        return continuation
      case .ended: return nil
      }
    }
    waiting?.resume(returning: answer)
  }

  /// Milliseconds until the deadline; 0 once it is past, and never more than a day.
  var remainingMilliseconds: Int {
    let (seconds, attoseconds) = (deadline - .now).components
    return max(0, Int(max(-1, min(seconds, 86_400))) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
