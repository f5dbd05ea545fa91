import Glibc

/// A program of the system that does one thing and ends.
enum ExternalProgram {
  /// Runs it, with its output and errors where this program's go.
  ///
  /// - Parameter words: the program's name, which is searched in PATH, and its arguments.
  /// - Throws: a temporary failure if it cannot be started or does not end with status 0.
  static func run(_ words: [String]) throws(Failure) {
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    guard posix_spawnp(&process, words[0], nil, nil, &arguments, environ) == 0 else {
      throw .temporary("\(words[0]) can't be started")
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw .temporary("\(words[0]) failed") }
  }
}
