import Base
import FoundationEssentials
import Sessions
import TestMode
import TestSupport
import Testing

@testable import MdocTool

/// The documentation of codes, configuration, limits, API and commands matches the program.
@Suite struct ReferenceTests {
  private static let folder =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Sources/Tool/Documentation.docc"

  @Test(arguments: ReferencePart.allCases)
  func theDocumentationHasWhatTheProgramPrints(part: ReferencePart) async throws {
    let printed = await Run("reference", part.rawValue)
    #expect(printed.status == 0)
    let file = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(part.fileName)"))
    let isSame = String(decoding: file, as: UTF8.self) == printed.output
    #expect(isSame, "\(part.fileName) is old: mdoc reference --out Sources/Tool/Documentation.docc")
  }

  @Test func everyCodeAndEveryVerbIsThere() async {
    let codes = await Run("reference", "codes").output
    #expect(Code.allCases.allSatisfy { codes.contains("| `\($0.rawValue)` |") })
    #expect(!codes.contains("| Others |"))
    let commands = await Run("reference", "commands").output
    for leaf in Program.root.leaves {
      #expect(commands.contains("## \(leaf.spelled)\n"))
      for option in leaf.command.options { #expect(commands.contains("| `--\(option.name)")) }
    }
  }

  @Test func itTakesAPartOrAFolder() async {
    for words in [["reference"], ["reference", "cods"], ["reference", "codes", "--out", "x"]] {
      #expect(await Run(words).status == 64)
    }
  }

  @Test func everyVerbHasAManualPage() async throws {
    let scratch = try Scratch()
    #expect(await Run("man", "--out", scratch.path).status == 0)
    for leaf in Program.root.leaves {
      let page = String(decoding: scratch.read(leaf.spelled.replacing(" ", with: "-") + ".1"), as: UTF8.self)
      #expect(page.hasPrefix(".TH MDOC\\-"))
      #expect(page.prefix { $0 != "\n" }.contains(" 1 \"\(ProgramVersion.date)\" \"mdoc \(ProgramVersion.text)\" "))
      #expect(page.utf8.allSatisfy { $0 < 0x80 })
      for option in leaf.command.options {
        #expect(page.contains("\\-\\-" + option.name.replacing("-", with: "\\-")))
      }
    }
    #expect(
      await Run("man", "verify", "apple").output == String(decoding: scratch.read("mdoc-verify-apple.1"), as: UTF8.self)
    )
    #expect(await Run("man", "nonsense").status == 64)
  }

  /// A release has its date in the changelog's heading.
  @Test func `the date of manual pages is the release's`() throws {
    let changelog = String(
      decoding: try #require(FileManager.default.contents(atPath: "\(Self.folder)/Changelog.md")), as: UTF8.self)
    let heading = changelog.split(separator: "\n").first { $0.hasPrefix("## ") && $0.contains(ProgramVersion.text) }
    #expect(heading?.hasPrefix("## Unreleased") == true || heading?.contains(ProgramVersion.date) == true)
    #expect(ProgramVersion.date.wholeMatch(of: /20\d\d-[01]\d-[0-3]\d/) != nil)
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionKnowsEveryVerbAndOption(shell: String) async {
    let script = await Run("completion", shell).output
    for leaf in Program.root.leaves {
      #expect(script.contains("'\(leaf.spelled.dropFirst("mdoc ".count))'"))
      for option in leaf.command.options { #expect(script.contains(option.name)) }
    }
    #expect(script.contains("apple-in-app"))
    #expect(await Run("completion", "csh").status == 64)
  }

  @Test(arguments: [
    (["ver"], "verify version"), (["verify", ""], "apple response reader request bundle"),
    (["verify", "apple", "--tr"], "--trust"),
    (["inspect", "--session", ""], "apple-in-app"), (["completion", ""], "bash zsh fish"),
    (["inspect", "--session", "=", "a"], "apple-in-app"),
  ])
  func bashCompletes(words: [String], expected: String) async throws {
    let scratch = try Scratch()
    let script = await Run("completion", "bash").output
    let typed = (["mdoc"] + words).map { "'\($0)'" }.joined(separator: " ")
    try scratch.write(
      "test.sh",
      """
      source '\(scratch("mdoc.bash"))'
      complete -p mdoc >/dev/null || exit 1
      COMP_WORDS=(\(typed)) COMP_CWORD=\(words.count)
      _mdoc
      [[ "${COMPREPLY[*]}" == '\(expected)' ]]
      """)
    try scratch.write("mdoc.bash", script)
    #expect(await Shell.run("bash '\(scratch("test.sh"))'") == 0)
  }
}
