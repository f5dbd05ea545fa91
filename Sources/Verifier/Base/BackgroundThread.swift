import Glibc

/// A thread of its own, for what blocks: a disk, a network, a join, a wait for the time of day.
///
/// Blocking a thread of Swift's cooperative pool instead would take it from those whose answers are waited for.
package enum BackgroundThread {
  /// Runs the body on a new thread, which ends with it; false when the system has no thread to give.
  /// - Parameter name: for `top -H`, profilers, and whoever counts processor time by threads; 15 bytes at most.
  package static func start(_ name: String = "mdoc-wait", _ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(Box(name, body))
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let code = pthread_create(&thread, &attributes, entry, box.toOpaque())
    pthread_attr_destroy(&attributes)
    if code != 0 { box.release() }
    return code == 0
  }

  /// Runs the body on a new thread, or where there is none on this one, and waits for it without blocking.
  package static func run(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      let whole: @Sendable () -> Void = {
        body()
        continuation.resume()
      }
      if !start("mdoc-wait", whole) { whole() }
    }
  }

  private final class Box: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static let entry: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { raw in
    if let raw {
      // Takes over the reference made for the thread.
      let box = Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
      setName(box.name)
      box.body()
    }
    return nil
  }

  private static func setName(_ name: String) {
    // glibc's function for it is not among those that Swift sees. Without /proc a thread keeps its creator's name.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
  }
}
