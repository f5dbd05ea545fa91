import Base
import Sessions
import Testing

@testable import MdocTool

/// `--help` is made from the declarations, on every level.
@Suite struct HelpTests {
  private static let paths = paths(below: Program.root, [])

  private static func paths(below command: Command, _ path: [String]) -> [[String]] {
    [path] + command.verbs.flatMap { paths(below: $0, path + [$0.name]) }
  }

  private static func command(_ path: [String]) -> Command? {
    path.reduce(Optional(Program.root)) { command, name in command?.verbs.first { $0.name == name } }
  }

  @Test(arguments: paths)
  func everyCommandHasHelpThatFitsTheScreen(path: [String]) async throws {
    for width in [80, 120] {
      let run = await Run(path + ["--help"], width: width)
      #expect(run.status == 0)
      #expect(run.error.isEmpty)
      let wide = run.output.split(separator: "\n").map(String.init).filter { $0.count > width }
      #expect(wide.isEmpty, "\(wide)")
    }
  }

  @Test(arguments: paths)
  func everyVerbHasAnExampleAndNamesEveryOption(path: [String]) async throws {
    let command = try #require(Self.command(path))
    guard command.action != nil else { return }
    let options = command.options
    let help = await Run(path + ["--help"]).output
    #expect(!command.examples.isEmpty)
    #expect(help.contains("Examples:"))
    for option in options { #expect(help.contains("--\(option.name)")) }
    #expect(Set(options.map(\.name)).count == options.count)
  }

  @Test func helpGoesBeforeFaultsAndCanBeAWord() async {
    let help = await Run("verify", "apple", "--help").output
    #expect(await Run("verify", "apple", "--nonsense", "--help").output == help)
    #expect(await Run("help", "verify", "apple").output == help)
    #expect(await Run("verify", "apple", "-h").output == help)
  }

  @Test func theVersionIsPrinted() async throws {
    let run = await Run("--version")
    #expect(run.status == 0 && run.output == "mdoc \(ProgramVersion.text)\n")
    #expect(await Run("version").output == run.output)
    #expect(try await Run("version", "--json").json() == ["version": .string(ProgramVersion.text)])
  }

  @Test func theVerbsHaveHeadings() async {
    let sections = Program.root.sections
    #expect(sections.map(\.count).reduce(0, +) == Program.root.verbs.count && sections.count > 4)
    let help = await Run("--help").output
    var rest = help[...]
    for (title, _) in sections {
      guard let heading = rest.ranges(of: "\n\(title):\n  ").first else {
        Issue.record("\(title) is not there, or not in its order")
        return
      }
      rest = rest[heading.upperBound...]
    }
    #expect(!help.contains("\nVerbs:\n"))
    #expect(await Run("verify", "--help").output.contains("\nVerbs:\n  apple "))
  }

  @Test func codesAreFoundByNameAndByHowTheyBegin() async throws {
    let one = try await Run("codes", "trust.issuer_unknown", "--json").json()
    #expect(one.array?.map { $0["code"] } == ["trust.issuer_unknown"])
    let several = try await Run("codes", "session", "--json").json().array ?? []
    #expect(several.count > 3 && several.allSatisfy { $0["code"]?.string?.hasPrefix("session.") == true })
    #expect(await Run("codes", "trust.issuer_unknwon").error.contains("did you mean trust.issuer_unknown?"))
    #expect(await Run("codes", "session", "--markdown").status == 64)
  }

  @Test func whatIsMissingOrMistypedIsAUsageError() async {
    for words in [[], ["verify"], ["vrify"], ["--vresion"], ["verify", "aple"], ["codes", "--jsno"], ["codes", "x"]] {
      let run = await Run(words)
      #expect(run.status == 64)
      #expect(run.output.isEmpty)
      #expect(run.hasOneLineOfError, "\(words): \(run.error)")
    }
    #expect(await Run("vrify").error.contains("did you mean mdoc verify?"))
    #expect(await Run("codes", "--jsno").error.contains("did you mean --json?"))
  }
}
