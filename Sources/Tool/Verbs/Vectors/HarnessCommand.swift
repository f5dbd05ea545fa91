import Base
import Vectors

/// A verifier that a command starts, with the bounds of the command line.
struct HarnessCommand {
  private let process: HarnessProcess

  init(_ command: String, _ arguments: ParsedArguments) throws(Failure) {
    var bounds = HarnessProcess.Bounds()
    bounds.answer = Int(try arguments.integer(.answerSeconds, in: 1...3_600))
    bounds.memory = Int(try arguments.integer(.memory, in: 1...1_048_576)) << 20
    process = HarnessProcess(command, bounds: bounds)
  }

  /// Starts the command, and makes the runner that asks it what it claims to do.
  func runner(of suite: VectorSuite) async throws(Failure) -> VectorRunner {
    let description: HarnessDescription
    do throws(VectorRunner.NoVerdict) {
      description = try await process.describe()
    } catch {
      guard case .gone(let reason) = error else { throw .temporary("the harness did not start") }
      throw .temporary("\(reason): no case was judged")
    }
    let process = process
    var runner = VectorRunner(suite, subject: description.title) { vector throws(VectorRunner.NoVerdict) in
      try await process.judge(vector, anchors: suite.anchors)
    }
    runner.description = description
    runner.profiles = description.profiles
    return runner
  }
}

extension Option {
  static let profile = Option(
    "profile", "PROFILE", "ask only cases of what is claimed", occurrence: .repeatable,
    choices: VectorProfile.allCases.map(\.rawValue))
  static let answerSeconds = Option(
    "answer-seconds", "SECONDS", "how long a command may take for one answer",
    fallback: "\(HarnessProcess.Bounds().answer)")
  static let memory = Option(
    "memory", "MIB", "how much resident memory a command may take", fallback: "\(HarnessProcess.Bounds().memory >> 20)")
}
