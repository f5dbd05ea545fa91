import Base
import Glibc

/// The program's entry point: it connects `Program` to the process's arguments, output and exit status.
@main
struct MdocTool {
  static func main() async {
    // Swift's runtime reads the arguments from there, and would trap.
    guard access("/proc/self/cmdline", R_OK) == 0 else {
      Console.process.printError("mdoc: /proc is not mounted; mount it, since the arguments are read from it")
      exit(ExitStatus.internal.rawValue)
    }
    exit(await Program.run(Array(CommandLine.arguments.dropFirst()), console: .process))
  }
}

/// `mdoc` without the process around it: it takes arguments and a console and returns an exit status, so that tests can
/// run every verb without starting a process.
enum Program {
  /// All verbs. A new verb needs one line here.
  static let root = Command(
    "mdoc", "verify ISO/IEC 18013-5 mobile documents, and everything around that",
    verbs: [
      DemoCommand.command,
      InitCommand.command,
      ServeCommand.command,
      VerifyCommand.command,
      InspectCommand.command,
      MockCommand.command,
      VectorsCommand.command,
      TrustCommand.command,
      AuditCommand.command,
      CodesCommand.command,
      CatalogueCommand.command,
      CircuitsCommand.command,
      KeysCommand.command,
      BenchCommand.command,
      ReferenceCommand.command,
      ManCommand.command,
      CompletionCommand.command,
    ],
    notes: [
      "mdoc --version prints the version that audit entries and evidence name.",
      "Exit status: 0 verified or done, 1 rejected or declined, 3 verified but nothing disclosed, 64 usage, 65 one of your files cannot be read, "
        + "70 internal, 75 temporary, 78 configuration.",
    ])

  static func run(_ arguments: [String], console: Console) async -> Int32 {
    let status = await perform(arguments, console)
    // If some output could not be written, the run has failed, whatever the verdict.
    return (console.hasFailed ? ExitStatus.temporary : status).rawValue
  }

  private static func perform(_ arguments: [String], _ console: Console) async -> ExitStatus {
    if arguments == ["--version"] {
      console.print("mdoc \(ProgramVersion.text)")
      return .done
    }
    do throws(Failure) {
      switch try ArgumentParser(root: root).parse(arguments) {
      case .help(let path): console.print(HelpText(path, width: console.width).text)
      case .run(let action, let parsed): return try await action(parsed, console)
      }
      return .done
    } catch {
      console.printError("mdoc: " + Printable.line(error.message))
      return error.status
    }
  }
}

/// The program's exit statuses. The numbers above 63 are those of sysexits.h.
enum ExitStatus: Int32, Sendable {
  /// The answer is verified, or the verb has done its work.
  case done = 0
  /// The wallet's answer was rejected or declined, however garbled it was.
  case rejected = 1
  /// The answer is genuine but discloses nothing: no requested element, and no answer about an age.
  case nothingDisclosed = 3
  case usage = 64
  /// One of the caller's own files cannot be read or is not what it should be.
  case unreadable = 65
  case `internal` = 70
  /// The same call may succeed later.
  case temporary = 75
  case configuration = 78
}

/// Why a verb could not do its work: a message of one line, and the exit status.
struct Failure: Error, Sendable, Equatable {
  let status: ExitStatus
  let message: String

  static func usage(_ message: String) -> Failure { Failure(status: .usage, message: message) }
  static func unreadable(_ message: String) -> Failure { Failure(status: .unreadable, message: message) }
  static func `internal`(_ message: String) -> Failure { Failure(status: .internal, message: message) }
  static func temporary(_ message: String) -> Failure { Failure(status: .temporary, message: message) }
  static func configuration(_ message: String) -> Failure { Failure(status: .configuration, message: message) }
}
