import Base

/// What a server knows of itself, whatever configuration is in force: what its readings of the configuration came to,
/// and whether it is about to stop.
final class ServerState: Sendable {
  struct Configuration: Sendable {
    /// When the configuration in force was read.
    var loadedAt: Timestamp
    /// Why the latest reading was not put in force; none where it was.
    var problems: [ConfigurationProblem] = []
    /// Readings that were not put in force.
    var failures = 0

    var isCurrent: Bool { problems.isEmpty }
  }

  private struct Content {
    var configuration: Configuration
    var isStopping = false
  }

  private let content: Locked<Content>

  init(loadedAt: Timestamp) { content = Locked(Content(configuration: Configuration(loadedAt: loadedAt))) }

  var configuration: Configuration { content.withLock { $0.configuration } }
  /// From then on `/readyz` sends new requests elsewhere.
  var isStopping: Bool { content.withLock { $0.isStopping } }

  func stop() { content.withLock { $0.isStopping = true } }

  func loaded(at now: Timestamp) -> Configuration {
    content.withLock { content in
      content.configuration = Configuration(loadedAt: now, failures: content.configuration.failures)
      return content.configuration
    }
  }

  func failed(_ problems: [ConfigurationProblem]) -> Configuration {
    content.withLock { content in
      content.configuration.problems = problems
      content.configuration.failures += 1
      return content.configuration
    }
  }
}
