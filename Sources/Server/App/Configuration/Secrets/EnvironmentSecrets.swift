import Base
import Cryptography
import Glibc

/// Secrets that the configuration takes from the environment: `{"env": "NAME"}`.
///
/// Each is taken once: its bytes are overwritten, so that `/proc` no longer shows them, and the variable is removed, so
/// that nothing the process starts or logs has it. What was taken stays here, for the next reading of the file.
final class EnvironmentSecrets: Sendable {
  private struct State {
    var taken: [String: Secret] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Nil where there is no such variable, or where it is empty.
  func take(_ name: String) -> Secret? {
    state.withLock { state in
      if let secret = state.taken[name] { return secret }
      guard !state.isClosed, let value = getenv(name), value.pointee != 0 else { return nil }
      let content = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
      let secret = Secret(name: name, isVariable: true, bytes: SecretBytes(copying: content))
      explicit_bzero(value, content.count)
      unsetenv(name)
      state.taken[name] = secret
      return secret
    }
  }

  /// From now on the environment is left alone: other threads may read it, and `unsetenv` moves what they read.
  func close() { state.withLock { $0.isClosed = true } }
}
