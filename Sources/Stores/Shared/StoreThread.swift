import Glibc
import VerificationService

/// A thread of a store's own, for what waits for a disk or a network: never one of Swift's cooperative threads.
enum StoreThread {
  /// Runs the body on a new thread, which ends with it.
  static func start(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        // Takes over the reference made for the thread.
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw .unavailable("no thread for the store: errno \(status)")
    }
    pthread_detach(thread)
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
