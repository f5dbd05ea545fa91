import Glibc

/// Names the thread that it is called on, for `top -H`, profilers, and whoever counts processor time by threads.
public enum ThreadName {
  /// - Parameter name: 15 bytes at most; the rest is cut off.
  public static func set(_ name: String) {
    // glibc's function for it is not among those that Swift sees. Without /proc a thread keeps its creator's name.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
  }
}
