import Base
import Glibc

/// Another verifier, run as a child process. It reads questions from standard input and writes replies to standard
/// output: one JSON object per line, one question at a time. If the process ends, gives no reply or uses too much
/// memory, it is restarted for the next question.
package final class HarnessProcess: Sendable {
  package struct Bounds: Sendable {
    /// Maximum time for one reply, in seconds.
    package var reply = 10
    /// Maximum time for the first reply of a new process, in seconds.
    package var start = 60
    /// Maximum resident memory of the process and its child processes, in bytes.
    package var memory = 2 << 30
    /// Maximum length of one reply, in bytes.
    package var line = 1 << 20

    package init() {}
  }

  /// The command line, run by `/bin/sh -c`.
  package let command: String
  private let bounds: Bounds
  /// The running process, and whether it has judged a case; nil while no process runs.
  private let running = Locked<(child: HarnessChild, hasJudged: Bool)?>(nil)

  package init(_ command: String, bounds: Bounds = Bounds()) {
    self.command = command
    self.bounds = bounds
  }

  deinit { stop() }

  /// Starts the verifier, and asks for its description.
  package func describe() async throws(VerdictError) -> HarnessDescription {
    let reply = try await VerdictError.blocking { () throws(VerdictError) in try self.start() }
    do throws(VectorError) {
      return try HarnessDescription(reply)
    } catch {
      stop()
      throw .gone("\(command): its reply to {\"describe\": {}} is malformed: \(error)")
    }
  }

  package func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VerdictError) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    let reply = try await VerdictError.blocking { () throws(VerdictError) in
      // Restart a process that wrote output or ended before the question. Such output belongs to no question.
      if self.running.withLock({ $0?.child.hasOutput ?? true }) { _ = try self.start() }
      let hasJudged = self.running.withLock { $0?.hasJudged == true }
      do throws(VerdictError) {
        return try self.exchange(question, within: self.bounds.reply)
      } catch {
        // A program may end after each reply. If the program ended before this question, restart it and ask again.
        guard hasJudged, case .ended(.crashed(let how)) = error, how.hasPrefix(HarnessChild.endWithoutFault) else {
          throw error
        }
        _ = try self.start()
        return try self.exchange(question, within: self.bounds.reply)
      }
    }
    guard reply["id"]?.string == vector.askedID else {
      stop()
      throw .other(reply["id"] == nil ? "its reply has no id" : "it replied to another question")
    }
    running.withLock { $0?.hasJudged = true }
    return try Judgement(reply: reply)
  }

  /// Ends the process and all processes that it started.
  package func stop() {
    // Remove the process under the lock, but stop it outside: stopping blocks.
    let ended = running.withLock { running in
      defer { running = nil }
      return running
    }
    ended?.child.stop()
  }

  private func start() throws(VerdictError) -> JSON {
    stop()
    guard let started = HarnessChild(command) else { throw .gone("\(command): the system cannot start a process") }
    running.withLock { $0 = (started, false) }
    do {
      return try exchange(Array("{\"describe\": {}}".utf8), within: bounds.start)
    } catch {
      stop()
      switch error {
      case .ended(let end): throw .gone("\(command): \(end.text) before its first reply")
      case .other(let reason), .gone(let reason), .unsupported(let reason): throw .gone("\(command): \(reason)")
      }
    }
  }

  private func exchange(_ question: [UInt8], within seconds: Int) throws(VerdictError) -> JSON {
    guard let child = running.withLock({ $0?.child }) else { throw .gone("\(command): no process") }
    let line: [UInt8]
    do throws(VerifierError) {
      line = try child.exchange(question, within: seconds, bounds: bounds)
    } catch {
      stop()
      throw .ended(error)
    }
    guard let reply = try? JSON(parsing: line), reply.object != nil else {
      stop()
      let words = HarnessDescription.line(String(decoding: line.prefix(400), as: UTF8.self), most: 80)
      throw .other("its reply must be a JSON object on one line: \(words)")
    }
    return reply
  }
}

/// The reason why a verifier did not reply.
package enum VerifierError: Error, Sendable, Hashable {
  /// The process ended. The text is its signal or exit status.
  case crashed(String)
  /// No reply within this number of seconds.
  case silent(Int)
  /// More memory than this number of bytes.
  case exhausted(Int)
  /// A reply longer than this number of bytes.
  case talkative(Int)
  /// More than one line for one question.
  case babbling

  package var text: String {
    switch self {
    case .crashed(let how): "crashed (\(how))"
    case .silent(let seconds): "gave no reply in \(seconds) s"
    case .exhausted(let bytes): "took more than \(bytes >> 20) MiB of memory"
    case .talkative(let bytes): "replied with more than \(bytes >> 10) KiB"
    case .babbling: "wrote more than one line for one question"
    }
  }
}

/// A harness's description of itself: the reply to `{"describe": {}}`.
package struct HarnessDescription: Sendable, Hashable {
  package var name: String
  package var version: String?
  package var language: String?
  /// The profiles that the verifier claims. Nil if the verifier claims no profile in particular. It then gets every
  /// case.
  package var profiles: [VectorProfile]?
  /// The rules that the verifier leaves to its caller, for lack of an option.
  package var leaves: [CallerRule] = []
  /// The library's calls and options that the harness uses.
  package var use: String?
  /// The address of the documentation for the calls that the harness uses.
  package var documentation: String?

  /// Name and version.
  package var title: String { [name, version ?? ""].filter { !$0.isEmpty }.joined(separator: " ") }

  package init(name: String, version: String? = nil, profiles: [VectorProfile]? = nil) {
    (self.name, self.version, self.profiles) = (name, version, profiles)
  }

  init(_ json: JSON) throws(VectorError) {
    if json["name"] == nil, let reason = json["reason"]?.string {
      throw VectorError(pointer: "/reason", problem: "says: \(Self.line(reason))")
    }
    // A member that is null counts as absent.
    self = try Self.shape.parsed(.object((json.object ?? []).filter { !$0.value.isNull }))
  }

  private static let shape = Shape<HarnessDescription>.form(
    "description", from: HarnessDescription(name: ""), Member("name", \.name, line(.nonEmpty, most: 100)),
    .ifAny("version", \.version, line(.anyText, most: 100)), .ifAny("language", \.language, line(.anyText, most: 100)),
    .ifAny("profiles", \.profiles, Shape<VectorProfile>.name.elements),
    .ifAny("leaves", \.leaves, Shape<CallerRule>.name.elements),
    .ifAny("use", \.use, line(.anyText, most: 1_000)),
    .ifAny("documentation", \.documentation, line(.anyText, most: 300)))

  private static func line(_ text: Shape<String>, most: Int) -> Shape<String> {
    text.map({ line($0, most: most) }, back: { $0 })
  }

  /// Another program's text as one line without control characters.
  static func line(_ text: String, most: Int = 200) -> String {
    let plain = text.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: " "
      default: Character(scalar)
      }
    }
    return String(plain.prefix(most))
  }

  package var json: JSON { Self.shape.write(self) }
}
