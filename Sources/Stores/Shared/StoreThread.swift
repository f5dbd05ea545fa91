import Glibc
import Primitives
import VerificationService

/// A thread of a store's own, for what waits for a disk or a network: never one of Swift's cooperative threads.
enum StoreThread {
  /// Runs the body on a new thread, which ends with it.
  /// - Parameter name: what `top -H` calls it, 15 characters at most.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
    let box = Unmanaged.passRetained(Box(name, body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        // Takes over the reference made for the thread.
        let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
        ThreadName.set(box.name)
        box.body()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw .unavailable("no thread for the store: errno \(status)")
    }
    pthread_detach(thread)
  }

  private final class Box: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
