import Base

/// `mdoc` apart from the process around it: arguments and a console in, an exit status out, so that tests run every
/// verb without starting anything.
enum Program {
  /// All verbs. A new one is one line here.
  static let root = Command(
    "mdoc", "verify ISO/IEC 18013-5 mobile documents, and everything around that",
    verbs: [
      DemoCommand.command,
      ServeCommand.command,
      VerifyCommand.command,
      InspectCommand.command,
      MockCommand.command,
      VectorsCommand.command,
      TrustCommand.command,
      AuditCommand.command,
      CodesCommand.command,
      CatalogueCommand.command,
      KeysCommand.command,
      BenchCommand.command,
    ],
    notes: [
      "mdoc --version prints the version that audit entries and evidence name.",
      "Exit status: 0 verified or done, 1 rejected or declined, 3 verified but nothing disclosed, 64 usage, 65 one of your files cannot be read, "
        + "70 internal, 75 temporary, 78 configuration.",
    ])

  static func run(_ arguments: [String], console: Console) async -> Int32 {
    let status = await perform(arguments, console)
    // What could not be printed was not delivered, whatever the verdict.
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
