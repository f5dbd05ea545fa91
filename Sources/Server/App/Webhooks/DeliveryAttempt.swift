import Base
import Network
import Sessions
import Trust

/// One attempt to deliver an event: signed anew, posted under the address guard, judged by the answer's status.
package struct DeliveryAttempt {
  let parts: WebhookDispatcher.Parts

  /// What to record of it, and its fault where it came to nothing.
  func run(
    _ delivery: DeliveryRecord, at endpoint: WebhookEndpoint
  ) async -> (result: AttemptResult, fault: DeliveryFault?) {
    let message = EventMessage(
      delivery.event, isLive: parts.isLive, secrets: endpoint.secrets, at: parts.clock())
    let post = WebMessage(headers: message.headers.map { "\($0.name): \($0.value)" }, body: message.body)
    do throws(FetchError) {
      let answer = try await parts.poster.post(
        post, to: endpoint.url, allowing: Self.rules(isLive: parts.isLive, endpoint.targets))
      guard let fault = Self.fault(ofStatus: answer.status) else { return (.delivered, nil) }
      return (result(fault, of: delivery, retryAfter: answer.retryAfter), fault)
    } catch {
      let fault: DeliveryFault
      if case .notAllowed = error { fault = DeliveryFault(.notAllowed) } else { fault = DeliveryFault(.unavailable) }
      return (result(fault, of: delivery, retryAfter: nil), fault)
    }
  }

  /// Test mode alone may post to this machine, and without TLS.
  package static func rules(isLive: Bool, _ targets: InternalTargets = .none) -> FetchRules {
    FetchRules(
      allowsPlainHTTP: !isLive, allowsLoopback: !isLive, internalTargets: targets,
      maximumBytes: Limits.deliveryAnswerBytes,
      maximumRedirects: 0, timeLimit: .seconds(Limits.deliverySeconds))
  }

  static func fault(ofStatus status: Int) -> DeliveryFault? {
    switch status {
    case 200..<300: nil
    case 300..<400: DeliveryFault(.redirected, httpStatus: status)
    case 410: DeliveryFault(.gone, httpStatus: status)
    default: DeliveryFault(.refused, httpStatus: status)
    }
  }

  private func result(
    _ fault: DeliveryFault, of delivery: DeliveryRecord, retryAfter: RetryAfter?
  ) -> AttemptResult {
    if fault.reason == .gone { return .dead(fault) }
    let now = parts.clock()
    var next = now + Self.pause(afterAttempt: delivery.attempts, jitter: .random(in: 0.8...1.2))
    if let asked = retryAfter?.time(from: now) {
      next = max(next, min(asked, now + Limits.longestDeliveryPause))
    }
    return next > delivery.begun + Limits.deliverySpan ? .dead(fault) : .retry(at: next, fault)
  }

  /// Seconds until the next attempt: five times as long each time, up to some hours, and not for all at the same second.
  static func pause(afterAttempt attempt: Int, jitter: Double) -> Int64 {
    var pause = Limits.shortestDeliveryPause
    for _ in 1..<max(1, min(attempt, 16)) { pause = min(pause * 5, Limits.longestDeliveryPause) }
    return max(1, Int64((Double(pause) * jitter).rounded()))
  }
}
