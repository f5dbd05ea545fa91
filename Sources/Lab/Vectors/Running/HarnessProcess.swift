import Base
import Glibc

/// Another verifier as a process that reads questions from its standard input and writes answers to its standard output,
/// one JSON object a line.
///
/// A process that ends, is silent or takes too much memory is started again for the next question. It is asked one
/// question at a time.
package final class HarnessProcess: Sendable {
  /// What one process may take.
  package struct Bounds: Sendable {
    /// Seconds for one answer.
    package var answer = 10
    /// Seconds until a process that was just started answers its first question.
    package var start = 60
    /// Resident memory of the process and those that it starts, in bytes.
    package var memory = 2 << 30
    /// Bytes of one answer.
    package var line = 1 << 20

    package init() {}
  }

  /// Given to `/bin/sh -c`.
  package let command: String
  private let bounds: Bounds
  /// Nil before the start, and after an end. Only the question that is asked uses it.
  private let child = Locked<HarnessChild?>(nil)

  package init(_ command: String, bounds: Bounds = Bounds()) {
    self.command = command
    self.bounds = bounds
  }

  deinit { child.withLock { $0 }?.stop() }

  /// Starts the verifier, and asks it who it is.
  package func describe() async throws(VectorRunner.NoVerdict) -> HarnessDescription {
    HarnessDescription(try await blocking { () throws(VectorRunner.NoVerdict) in try self.start() }, command: command)
  }

  package func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VectorRunner.NoVerdict) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    let reply = try await blocking { () throws(VectorRunner.NoVerdict) in
      if self.child.withLock({ $0 == nil }) { _ = try self.start() }
      return try self.exchange(question, within: self.bounds.answer)
    }
    if let id = reply["id"]?.string, id != vector.askedID {
      stop()
      throw .other("it answered another question than it was asked")
    }
    return try Judgement(answer: reply)
  }

  /// Ends the process, if there is one, and all that it started.
  package func stop() {
    child.withLock { child in
      child?.stop()
      child = nil
    }
  }

  private func start() throws(VectorRunner.NoVerdict) -> JSON {
    stop()
    guard let started = HarnessChild(command) else { throw .gone("\(command): no process can be started") }
    child.withLock { $0 = started }
    do {
      return try exchange(Array("{\"describe\": {}}".utf8), within: bounds.start)
    } catch {
      stop()
      switch error {
      case .ended(let end): throw .gone("\(command): \(end.text) before its first answer")
      case .other(let reason), .gone(let reason), .unsupported(let reason): throw .gone("\(command): \(reason)")
      }
    }
  }

  private func exchange(_ question: [UInt8], within seconds: Int) throws(VectorRunner.NoVerdict) -> JSON {
    guard let child = child.withLock({ $0 }) else { throw .gone("\(command): no process") }
    let line: [UInt8]
    do throws(VerifierEnd) {
      line = try child.exchange(question, deadline: Deadline(in: .seconds(seconds)), bounds: bounds, seconds: seconds)
    } catch {
      stop()
      throw .ended(error)
    }
    guard let reply = try? JSON(parsing: line), reply.object != nil else {
      stop()
      throw .other("its answer is no JSON object on one line")
    }
    return reply
  }

  /// Runs what blocks on a thread of its own.
  private func blocking(
    _ body: @escaping @Sendable () throws(VectorRunner.NoVerdict) -> JSON
  ) async throws(VectorRunner.NoVerdict) -> JSON {
    let result = Locked<Result<JSON, VectorRunner.NoVerdict>>(.failure(.gone("no thread for the call")))
    await BackgroundThread.run {
      do throws(VectorRunner.NoVerdict) {
        let reply = try body()
        result.withLock { $0 = .success(reply) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    return try result.withLock { $0 }.get()
  }
}

/// How a verifier ended in place of an answer.
package enum VerifierEnd: Error, Sendable, Hashable {
  /// The process ended: its signal or its exit status, as text.
  case crashed(String)
  /// There was no answer in so many seconds.
  case silent(Int)
  /// It took more than so many bytes of memory.
  case exhausted(Int)
  /// Its answer is longer than so many bytes.
  case talkative(Int)

  package var text: String {
    switch self {
    case .crashed(let how): "crashed (\(how))"
    case .silent(let seconds): "gave no answer in \(seconds) s"
    case .exhausted(let bytes): "took more than \(bytes >> 20) MiB of memory"
    case .talkative(let bytes): "answered with more than \(bytes >> 10) KiB"
    }
  }
}

/// What a harness says about itself: the answer to `{"describe": {}}`.
package struct HarnessDescription: Sendable, Hashable {
  package var name: String
  package var version: String?
  package var language: String?
  /// What the verifier claims to do; nil if it does not tell, and everything is asked.
  package var profiles: [VectorProfile]?
  /// Which calls with which options are used.
  package var use: String?
  /// Where that use is documented.
  package var documentation: String?

  /// Name and version.
  package var title: String { [name, version ?? ""].filter { !$0.isEmpty }.joined(separator: " ") }

  package init(name: String, version: String? = nil, profiles: [VectorProfile]? = nil) {
    self.name = name
    self.version = version
    self.profiles = profiles
  }

  /// - Parameter command: the name of a harness that does not tell its own.
  init(_ json: JSON, command: String) {
    name = json["name"]?.string ?? command
    version = json["version"]?.string
    language = json["language"]?.string
    // An unknown profile is none of ours, and no case needs it.
    profiles = json["profiles"]?.array.map { $0.compactMap { $0.string.flatMap(VectorProfile.init) } }
    use = json["use"]?.string
    documentation = json["documentation"]?.string
  }

  package var json: JSON {
    .members([
      "name": .string(name), "version": version.map { .string($0) }, "language": language.map { .string($0) },
      "profiles": profiles.map { .strings($0.map(\.rawValue)) }, "use": use.map { .string($0) },
      "documentation": documentation.map { .string($0) },
    ])
  }
}
