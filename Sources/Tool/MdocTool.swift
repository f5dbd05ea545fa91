import Glibc

/// The program's way in: arguments of the process, its standard output and error, its exit status.
@main
struct MdocTool {
  static func main() async {
    exit(await Program.run(Array(CommandLine.arguments.dropFirst()), console: .process))
  }
}
