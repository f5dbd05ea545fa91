import Base
import FoundationEssentials
import Glibc

/// One running process of a harness, in its own process group.
package struct HarnessChild: Sendable {
  /// The process, whose id is also the id of its group.
  private let process: pid_t
  /// A socket, since writes to a socket can suppress SIGPIPE.
  private let input: Int32
  private let output: Int32
  /// The last part of standard error, shown if the process ends.
  private let errors: Int32

  /// The interval of memory checks, in milliseconds.
  private static let interval: Int32 = 20

  /// Nil if the process cannot be started.
  init?(_ command: String) {
    var inputs: [Int32] = [-1, -1]
    var outputs: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &inputs) == 0 else { return nil }
    guard pipe(&outputs) == 0, pipe(&errors) == 0 else {
      for end in inputs + outputs where end >= 0 { close(end) }
      return nil
    }
    for end in outputs + errors { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let (own, others) = ([inputs[0], outputs[0], errors[0]], [inputs[1], outputs[1], errors[1]])
    for (number, end) in others.enumerated() { posix_spawn_file_actions_adddup2(&actions, end, Int32(number)) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let words: [String] = ["/bin/sh", "-c", command]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
    for end in others { close(end) }
    guard code == 0 else {
      for end in own { close(end) }
      return nil
    }
    RunningHarnesses.add(process)
    self.process = process
    (input, output, self.errors) = (own[0], own[1], own[2])
    for end in own { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  /// Runs a command with `/bin/sh -c` and returns the first line of its output. The command reads `question` from
  /// standard input and is stopped after its first line.
  package static func line(
    of command: String, asked question: [UInt8] = [], bounds: HarnessProcess.Bounds = .init()
  ) async throws(VerdictError) -> [UInt8] {
    try await VerdictError.blocking { () throws(VerdictError) in
      guard let child = HarnessChild(command) else { throw .gone("\(command): cannot be started") }
      defer { child.stop() }
      do throws(VerifierError) {
        return try child.exchange(question, within: bounds.reply, bounds: bounds)
      } catch {
        throw .ended(error)
      }
    }
  }

  /// Kills the process group and reaps the process.
  func stop() {
    kill(-process, SIGKILL)
    RunningHarnesses.remove(process)
    for end in [input, output, errors] { close(end) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// Writes a question and reads the one-line reply.
  func exchange(
    _ question: [UInt8], within seconds: Int, bounds: HarnessProcess.Bounds
  ) throws(VerifierError) -> [UInt8] {
    let deadline = Deadline(in: .seconds(seconds))
    var rest = (question + [UInt8(ascii: "\n")])[...]
    var line: [UInt8] = []
    var words: [UInt8] = []
    while true {
      // After writing the whole question, wait only for output.
      var waits = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
      if !rest.isEmpty { waits.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
      let ready = poll(&waits, nfds_t(waits.count), min(Self.interval, deadline.milliseconds))
      if waits.count > 1, waits[1].revents != 0 { write(&rest) }
      listen(&words)
      let isWhole = waits[0].revents != 0 ? try read(into: &line, words) : false
      guard line.count <= bounds.line else { throw .talkative(bounds.line) }
      // A memory check reads many files, so skip it for partial lines.
      if isWhole || ready == 0, residentMemory > bounds.memory { throw .exhausted(bounds.memory) }
      if isWhole { return line }
      if deadline.isPast { throw .silent(seconds) }
    }
  }

  /// Writes as many bytes as the socket accepts. The end of its output reveals a peer that no longer reads.
  private func write(_ rest: inout ArraySlice<UInt8>) {
    let count = rest.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno != EAGAIN, errno != EINTR {
      rest = []
    }
  }

  /// True if output, or the end of output, can be read.
  var hasOutput: Bool {
    var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, 0) > 0
  }

  /// Drains standard error so that its writer does not block. Keeps the last part. The deadline stops a process with
  /// endless output.
  private func listen(_ words: inout [UInt8]) {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<4 {
      let count = Glibc.read(errors, &chunk, chunk.count)
      guard count > 0 else { return }
      words = Array((words + chunk[..<count]).suffix(1_024))
    }
  }

  /// Reads available output. Returns true if the line is complete.
  private func read(into line: inout [UInt8], _ words: [UInt8]) throws(VerifierError) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(output, &chunk, chunk.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    guard count > 0 else {
      var words = words
      let how = end()
      listen(&words)
      let last = String(decoding: words, as: UTF8.self).split(separator: "\n").last.map(String.init) ?? ""
      throw .crashed(how + (last.isEmpty ? "" : ": \(HarnessDescription.line(last))"))
    }
    guard let newline = chunk[..<count].firstIndex(of: UInt8(ascii: "\n")) else {
      line += chunk[..<count]
      return false
    }
    line += chunk[..<newline]
    guard newline == count - 1 else { throw .babbling }
    return true
  }

  static let endWithoutFault = "exit status 0"

  /// Waits for the process to end after its output has ended. `stop` reaps the process.
  private func end() -> String {
    var facts = siginfo_t()
    let limit = Deadline(in: .seconds(2))
    while true {
      // A process may continue after it closes its output.
      let done = waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT) == 0
      if done, facts.si_signo == SIGCHLD { break }
      if limit.isPast { return "it closed its output" }
      Deadline(in: .milliseconds(5)).sleep()
    }
    let status = facts._sifields._sigchld.si_status
    guard facts.si_code == CLD_EXITED else { return "signal \(status)" }
    if status == 0 { return Self.endWithoutFault }
    // A shell reports a program's signal as exit status 128 plus the signal's number.
    return (129...192).contains(status) ? "signal \(status - 128)" : "exit status \(status)"
  }

  /// Resident bytes of all processes of the group; 0 if unknown.
  private var residentMemory: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.reduce(0) { $0 + ($1.first?.isNumber == true ? pages(of: $1) : 0) } * sysconf(Int32(_SC_PAGESIZE))
  }

  /// Resident pages of a process (proc(5), stat); 0 if the process is in another group or has ended.
  private func pages(of name: String) -> Int {
    // The program's name, in brackets, may contain spaces and brackets.
    guard let facts = FileManager.default.contents(atPath: "/proc/\(name)/stat"),
      let bracket = facts.lastIndex(of: UInt8(ascii: ")"))
    else { return 0 }
    let fields = String(decoding: facts[bracket...].dropFirst(), as: UTF8.self).split(separator: " ")
    guard fields.count > 21, pid_t(fields[2]) == process else { return 0 }
    return Int(fields[21]) ?? 0
  }
}

/// The groups of the running harnesses. A signal that ends this program ends them too.
private enum RunningHarnesses {
  private static let lock = Locked(())
  private static let most = 64
  // Changed only under the lock. The signal handler must not take the lock and reads without it. This is safe: each
  // element is one word, 0 or a group's id.
  nonisolated(unsafe) private static let groups: UnsafeMutablePointer<pid_t> = {
    let groups = UnsafeMutablePointer<pid_t>.allocate(capacity: most)
    groups.initialize(repeating: 0, count: most)
    return groups
  }()

  private static let handler: Void = {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        for index in 0..<RunningHarnesses.most where RunningHarnesses.groups[index] > 0 {
          kill(-RunningHarnesses.groups[index], SIGKILL)
        }
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }()

  static func add(_ group: pid_t) {
    _ = handler
    replace(0, by: group)
  }

  static func remove(_ group: pid_t) { replace(group, by: 0) }

  private static func replace(_ old: pid_t, by new: pid_t) {
    lock.withLock { _ in
      if let index = (0..<most).first(where: { groups[$0] == old }) { groups[index] = new }
    }
  }
}
