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
  /// How many questions the process has answered since its start.
  private let answered = Locked(0)

  package init(_ command: String, bounds: Bounds = Bounds()) {
    self.command = command
    self.bounds = bounds
  }

  deinit { stop() }

  /// Starts the verifier, and asks it who it is.
  package func describe() async throws(VectorRunner.NoVerdict) -> HarnessDescription {
    let answer = try await blocking { () throws(VectorRunner.NoVerdict) in try self.start() }
    do throws(VectorFault) {
      return try HarnessDescription(answer)
    } catch {
      stop()
      throw .gone("\(command): its answer to {\"describe\": {}} is none: \(error)")
    }
  }

  package func judge(_ vector: TestVector, anchors: SuiteAnchors) async throws(VectorRunner.NoVerdict) -> Judgement {
    let question = anchors.question(of: vector).serialized()
    let reply = try await blocking { () throws(VectorRunner.NoVerdict) in
      // What it said unasked, or its end, belongs to no question.
      if self.child.withLock({ $0?.hasOutput ?? true }) { _ = try self.start() }
      let mark = self.answered.withLock { $0 }
      do throws(VectorRunner.NoVerdict) {
        return try self.exchange(question, within: self.bounds.answer)
      } catch {
        // A program that answers and ends was gone before it was asked.
        guard case .ended(.crashed(let how)) = error, how.hasPrefix(HarnessChild.endWithoutFault), mark > 0 else {
          throw error
        }
        _ = try self.start()
        return try self.exchange(question, within: self.bounds.answer)
      }
    }
    guard reply["id"]?.string == vector.askedID else {
      stop()
      throw .other(reply["id"] == nil ? "its answer has no id" : "it answered another question than it was asked")
    }
    answered.withLock { $0 += 1 }
    return try Judgement(answer: reply)
  }

  /// Ends the process, if there is one, and all that it started.
  package func stop() {
    // Taken out first: ending it waits, and a lock must not.
    let ended = child.withLock { child in
      defer { child = nil }
      return child
    }
    ended?.stop()
  }

  private func start() throws(VectorRunner.NoVerdict) -> JSON {
    stop()
    guard let started = HarnessChild(command) else { throw .gone("\(command): no process can be started") }
    child.withLock { $0 = started }
    answered.withLock { $0 = 0 }
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
      let words = HarnessDescription.line(String(decoding: line.prefix(400), as: UTF8.self), most: 80)
      throw .other("its answer is no JSON object on one line: \(words)")
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
  /// It wrote more than the line that answers.
  case babbling

  package var text: String {
    switch self {
    case .crashed(let how): "crashed (\(how))"
    case .silent(let seconds): "gave no answer in \(seconds) s"
    case .exhausted(let bytes): "took more than \(bytes >> 20) MiB of memory"
    case .talkative(let bytes): "answered with more than \(bytes >> 10) KiB"
    case .babbling: "wrote more than one line for one question"
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

  /// - Throws: what is wrong with the answer, as text.
  init(_ json: JSON) throws(VectorFault) {
    let reader = MemberParser(json, at: "")
    if json["name"] == nil, let reason = json["reason"]?.string {
      throw VectorFault(pointer: "/reason", problem: "says: \(Self.line(reason))")
    }
    name = Self.line(try reader.string("name"), most: 100)
    guard !name.isEmpty else { throw reader.fault("name", "is empty") }
    func text(_ name: String, _ most: Int) throws(VectorFault) -> String? {
      guard let value = reader.optional(name), value != .null else { return nil }
      return Self.line(try reader.string(name), most: most)
    }
    version = try text("version", 100)
    language = try text("language", 100)
    use = try text("use", 1_000)
    documentation = try text("documentation", 300)
    guard reader.optional("profiles") != nil else { return }
    var claimed: [VectorProfile] = []
    for name in try reader.strings("profiles") {
      guard let profile = VectorProfile(rawValue: name) else {
        let known = VectorProfile.allCases.map(\.rawValue).joined(separator: ", ")
        throw reader.fault("profiles", "claim \"\(Self.line(name, most: 40))\"; profiles are \(known)")
      }
      claimed.append(profile)
    }
    profiles = claimed
  }

  /// Another program's words as one line that steers no terminal and no page.
  static func line(_ text: String, most: Int = 200) -> String {
    let plain = text.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: " "
      default: Character(scalar)
      }
    }
    return String(plain.prefix(most))
  }

  package var json: JSON {
    .members([
      "name": .string(name), "version": version.map { .string($0) }, "language": language.map { .string($0) },
      "profiles": profiles.map { .strings($0.map(\.rawValue)) }, "use": use.map { .string($0) },
      "documentation": documentation.map { .string($0) },
    ])
  }
}
