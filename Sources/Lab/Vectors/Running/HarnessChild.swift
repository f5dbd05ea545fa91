import Base
import Glibc

/// One running process of a harness, in a process group of its own.
struct HarnessChild: Sendable {
  /// Also the id of its group.
  private let process: pid_t
  /// A socket, since a write to it raises no SIGPIPE.
  private let input: Int32
  private let output: Int32
  /// For people: the last words are shown where the process ends.
  private let errors: Int32

  /// How often the memory is looked at, in milliseconds.
  private static let interval: Int32 = 20

  /// Nil if the system gives no process.
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
    posix_spawn_file_actions_adddup2(&actions, inputs[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, outputs[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let words: [String] = ["/bin/sh", "-c", command]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
    close(inputs[1])
    close(outputs[1])
    close(errors[1])
    guard code == 0 else {
      for end in [inputs[0], outputs[0], errors[0]] { close(end) }
      return nil
    }
    RunningHarnesses.add(process)
    self.process = process
    input = inputs[0]
    output = outputs[0]
    self.errors = errors[0]
    for descriptor in [input, output, self.errors] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  /// Ends the group, and takes the process's status from the system.
  func stop() {
    kill(-process, SIGKILL)
    RunningHarnesses.remove(process)
    close(input)
    close(output)
    close(errors)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// Writes a question and reads the line that answers it.
  ///
  /// - Parameter seconds: what the deadline was made of, for the message.
  func exchange(
    _ question: [UInt8], deadline: Deadline, bounds: HarnessProcess.Bounds, seconds: Int
  ) throws(VerifierEnd) -> [UInt8] {
    var rest = (question + [UInt8(ascii: "\n")])[...]
    var line: [UInt8] = []
    var words: [UInt8] = []
    while true {
      // Once all is written, only answers are waited for.
      var waits = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
      if !rest.isEmpty { waits.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
      let ready = poll(&waits, nfds_t(waits.count), min(Self.interval, deadline.milliseconds))
      if waits.count > 1, waits[1].revents != 0 { write(&rest) }
      listen(&words)
      let isWhole = waits[0].revents != 0 ? try read(into: &line, words) : false
      guard line.count <= bounds.line else { throw .talkative(bounds.line) }
      // Looking at the memory reads many files: not for each piece of a line.
      if isWhole || ready == 0, residentMemory > bounds.memory { throw .exhausted(bounds.memory) }
      if isWhole { return line }
      if deadline.isPast { throw .silent(seconds) }
    }
  }

  /// Writes what the socket takes. A peer that reads no more is seen at its end of the output.
  private func write(_ rest: inout ArraySlice<UInt8>) {
    let count = rest.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno != EAGAIN, errno != EINTR {
      rest = []
    }
  }

  /// Whether there is something to read, or the end of it.
  var hasOutput: Bool {
    var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, 0) > 0
  }

  /// Takes what was written to standard error, so that its writer goes on. The last words are kept. One that writes without
  /// end is not heard out: the deadline counts.
  private func listen(_ words: inout [UInt8]) {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<4 {
      let count = Glibc.read(errors, &chunk, chunk.count)
      guard count > 0 else { return }
      words = Array((words + chunk[..<count]).suffix(1_024))
    }
  }

  /// Reads what is there. True once the line is whole.
  private func read(into line: inout [UInt8], _ words: [UInt8]) throws(VerifierEnd) -> Bool {
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

  /// How the process ended, once its output has. The status stays for `stop` to take.
  private func end() -> String {
    var facts = siginfo_t()
    let limit = Deadline(in: .seconds(2))
    while true {
      // A process that closed its output may go on.
      let done = waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT) == 0
      if done, facts.si_signo == SIGCHLD { break }
      if limit.isPast { return "it closed its output" }
      Deadline(in: .milliseconds(5)).sleep()
    }
    let status = facts._sifields._sigchld.si_status
    guard facts.si_code == CLD_EXITED else { return "signal \(status)" }
    if status == 0 { return Self.endWithoutFault }
    // A shell that waited for the program says its signal so.
    return (129...192).contains(status) ? "signal \(status - 128)" : "exit status \(status)"
  }

  /// Resident bytes of all processes of the group; 0 if the system does not tell.
  private var residentMemory: Int {
    guard let folder = opendir("/proc") else { return 0 }
    defer { closedir(folder) }
    var pages = 0
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.first?.isNumber == true { pages += Self.pages(of: name, inGroup: process) }
    }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  /// Resident pages of a process; 0 if it is of another group or gone (proc(5), stat).
  private static func pages(of process: String, inGroup group: pid_t) -> Int {
    let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = Glibc.read(file, &bytes, bytes.count)
    // The name, in brackets, may hold spaces and brackets itself.
    guard count > 0, let bracket = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return 0 }
    let fields = String(decoding: bytes[bracket..<count].dropFirst(), as: UTF8.self).split(separator: " ")
    guard fields.count > 21, pid_t(fields[2]) == group else { return 0 }
    return Int(fields[21]) ?? 0
  }
}

/// The groups of the harnesses that run, for a signal that ends this program: nothing that it started goes on after it.
private enum RunningHarnesses {
  private static let lock = Locked(())
  private static let most = 64
  // Changed under the lock only. The signal's handler reads it without, since it may take none: each place is one word,
  // 0 or a group's id.
  nonisolated(unsafe) private static let groups: UnsafeMutablePointer<pid_t> = {
    let groups = UnsafeMutablePointer<pid_t>.allocate(capacity: most)
    groups.initialize(repeating: 0, count: most)
    return groups
  }()

  private static let handler: Void = {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        for place in 0..<RunningHarnesses.most where RunningHarnesses.groups[place] > 0 {
          kill(-RunningHarnesses.groups[place], SIGKILL)
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
      if let place = (0..<most).first(where: { groups[$0] == old }) { groups[place] = new }
    }
  }
}
