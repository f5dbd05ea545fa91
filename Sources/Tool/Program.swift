import Base
import Glibc
import Sessions

/// The program's entry point: it connects `Program` to the process's arguments, output and exit status.
@main
struct MdocTool {
  static func main() async {
    // Swift's runtime reads the arguments from this file, and traps if the file cannot be read.
    guard access("/proc/self/cmdline", R_OK) == 0 else {
      Console.process.printError("mdoc: /proc is not mounted; mount it, since the arguments are read from it")
      exit(ExitStatus.internal.rawValue)
    }
    exit(await Program.run(Array(CommandLine.arguments.dropFirst()), console: .process))
  }
}

/// The `mdoc` program, independent of its process. Tests run every verb with arguments and a console.
enum Program {
  /// All verbs. A new verb needs one line here.
  static let root = Command(
    "mdoc", "verify ISO/IEC 18013-5 mobile documents, from files or as a server",
    sections: [
      "Begin": [DemoCommand.command, InitCommand.command, ServeCommand.command],
      "Verify": [VerifyCommand.command, InspectCommand.command, CodesCommand.command, CatalogueCommand.command],
      "Trust and keys": [TrustCommand.command, KeysCommand.command, CircuitsCommand.command],
      "Operate": [AuditCommand.command, BenchCommand.command],
      "Test": [WalletCommand.command, MockCommand.command, VectorsCommand.command],
      "About the program": [version, ReferenceCommand.command, ManCommand.command, CompletionCommand.command],
    ],
    notes: [
      "Exit status: 0 verified or done, 1 rejected or declined, 3 verified but nothing disclosed, 64 usage, 65 one of "
        + "your files cannot be read, 70 internal, 75 temporary, 78 configuration."
    ])

  private static let version = Command(
    "version", "print the version that audit entries and evidence name, as --version does", options: [.json],
    examples: [.init("Print the version", "mdoc version")]
  ) { arguments throws(Failure) in
    arguments.print([.member("version", ProgramVersion.text), .line("mdoc \(ProgramVersion.text)")])
  }

  static func run(_ arguments: [String], console: Console) async -> Int32 {
    let status = await perform(arguments, console)
    // The run has failed if any output could not be written.
    return (console.hasFailed ? ExitStatus.temporary : status).rawValue
  }

  private static func perform(_ arguments: [String], _ console: Console) async -> ExitStatus {
    if arguments == ["--version"] {
      return await perform(["version"], console)
    }
    do throws(Failure) {
      switch try ArgumentParser(root: root, console: console).parse(arguments) {
      case .help(let path): console.print(HelpText(path, width: console.width).text)
      case .run(let action, let parsed): return try await action(parsed)
      }
      return .done
    } catch {
      console.printError("mdoc: " + error.message.printableLine)
      return error.status
    }
  }
}

/// The program's exit statuses. The numbers above 63 are from sysexits.h.
enum ExitStatus: Int32, Sendable {
  /// The response is verified, or the verb has done its work.
  case done = 0
  /// The wallet's response is rejected or malformed, or the wallet declined the request.
  case rejected = 1
  /// The response is genuine, but discloses neither a requested element nor an age.
  case nothingDisclosed = 3
  case usage = 64
  /// One of the caller's own files cannot be read or has the wrong content.
  case unreadable = 65
  case `internal` = 70
  /// A temporary failure: the same call may succeed later.
  case temporary = 75
  case configuration = 78
}

/// The reason why a verb failed: a one-line message and the exit status.
struct Failure: Error, Sendable, Equatable {
  let status: ExitStatus
  let message: String

  static func usage(_ message: String) -> Failure { Failure(status: .usage, message: message) }
  static func unreadable(_ message: String) -> Failure { Failure(status: .unreadable, message: message) }
  static func `internal`(_ message: String) -> Failure { Failure(status: .internal, message: message) }
  static func temporary(_ message: String) -> Failure { Failure(status: .temporary, message: message) }
  static func configuration(_ message: String) -> Failure { Failure(status: .configuration, message: message) }

  /// The failure for an unknown name. It suggests the nearest known name.
  static func unknown(_ kind: String, _ name: String, among names: [String], or hint: String = "") -> Failure {
    .usage(
      "there is no \(kind) \(name)" + (Spelling.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? "")
        + hint)
  }
}

/// Returns the body's value. An error about one of the caller's files becomes a failure with `subject` and the
/// error's description.
func readable<Value>(_ subject: String = "", _ body: () throws -> Value) throws(Failure) -> Value {
  do { return try body() } catch { throw .unreadable("\(subject)\(error)") }
}
