/// Why a server does not start, for the person at the terminal, with the exit code (sysexits.h).
package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let exitCode: Int32
  /// The members of the configuration that are at fault, where that is the reason.
  package private(set) var problems: [ConfigurationProblem] = []

  /// `EX_CONFIG`: the configuration must be changed first.
  package static func configuration(_ message: String) -> StartError { StartError(message: message, exitCode: 78) }

  /// The same, by members of the file at `path`.
  static func configuration(_ path: String, _ problems: [ConfigurationProblem]) -> StartError {
    var error = configuration(problems.map { "\(path): \($0.text)" }.joined(separator: "; "))
    error.problems = problems
    return error
  }

  /// `EX_TEMPFAIL`: something outside the configuration is missing; the same start may work later.
  package static func unavailable(_ message: String) -> StartError { StartError(message: message, exitCode: 75) }

  package var description: String { message }
}
