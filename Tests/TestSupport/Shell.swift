import Base
import Glibc

/// Commands that a shell runs.
package enum Shell {
  /// Runs the command with these arguments (`$1`…). Returns its exit status: 127 if no shell can be started, 128 plus
  /// the signal's number after a signal.
  package static func run(_ command: String, _ arguments: String...) async -> Int32 {
    let result = Locked<Int32>(127)
    await BackgroundThread.run {
      var words = (["/bin/sh", "-c", command, "sh"] + arguments).map { strdup($0) } + [nil]
      defer { for word in words { free(word) } }
      var process: pid_t = 0
      guard posix_spawn(&process, "/bin/sh", nil, nil, &words, environ) == 0 else { return }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      result.withLock { $0 = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f) }
    }
    return result.withLock { $0 }
  }
}
