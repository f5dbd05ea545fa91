import Synchronization

/// What a server holds at the moment, for its metrics.
package final class TransportGauges: Sendable {
  /// Requests that wait to be handled.
  package let waiting = Atomic(0)
  /// Requests that take one of the places among those handled at one time.
  package let running = Atomic(0)
  /// Bytes of bodies, whole and in part.
  package let bodyBytes = Atomic(0)

  package init() {}
}
