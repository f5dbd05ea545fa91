/// What is wrong with one member of the configuration, and what it should be.
package struct ConfigurationProblem: Sendable, Hashable {
  /// A JSON pointer (RFC 6901); empty for the whole file.
  package let pointer: String
  package let detail: String

  /// `/listen: must be …`; what concerns the whole file has no pointer.
  package var text: String { pointer.isEmpty ? detail : "\(pointer): \(detail)" }
}

/// The problems of one reading, so that all of them are told at once. Used by the one thread that reads.
final class ConfigurationProblems {
  private(set) var all: [ConfigurationProblem] = []

  func note(_ problem: ConfigurationProblem) {
    if !all.contains(problem) { all.append(problem) }
  }

  /// The body's value; or nil, with its problems noted, so that the rest can be read as well.
  func attempt<R>(_ body: () throws(StartError) -> R) -> R? {
    do throws(StartError) {
      return try body()
    } catch {
      for problem in error.problems { note(problem) }
      if error.problems.isEmpty { note(ConfigurationProblem(pointer: "", detail: error.message)) }
      return nil
    }
  }
}
