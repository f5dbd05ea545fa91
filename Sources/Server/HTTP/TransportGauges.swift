import Synchronization

/// What a server holds at the moment, for its metrics.
public final class TransportGauges: Sendable {
  /// Requests that wait to be handled.
  let waiting = Atomic(0)
  /// Requests that take one of the places among those handled at one time.
  let running = Atomic(0)
  /// Bytes of bodies, whole and in part.
  let bodyBytes = Atomic(0)

  public init() {}
}
