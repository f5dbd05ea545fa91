import Base
import FoundationEssentials
import Sessions
import Testing

@testable import MdocTool

/// The README and the articles name only codes and verbs that exist.
@Suite struct DocumentsTests {
  private let texts: [(name: String, text: String)]

  init() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let catalogue = root + "/Sources/Tool/Documentation.docc"
    let articles = try FileManager.default.contentsOfDirectory(atPath: catalogue).filter { $0.hasSuffix(".md") }
    let paths = [root + "/README.md", root + "/Trust/README.md"] + articles.map { catalogue + "/" + $0 }
    texts = try paths.map { path in
      (path, String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self))
    }
    #expect(articles.count > 30)
  }

  /// Names that look like codes: events of the log, members of the configuration, files, a host.
  private static let otherNames: Set<Substring> = [
    "apple.encryption_keys", "apple.json", "apple.merchant_id", "apple.pem", "apple.team_id", "evidence.key",
    "session.go", "session.py", "session.ts", "trust.dmv.ca.gov", "trust.reload_failed", "trust.warning",
  ]

  @Test func `every code is one of the registry`() {
    let codes = Set(Code.allCases.map(\.rawValue))
    let families = Set(codes.compactMap { $0.split(separator: ".").first.map(String.init) })
    var named = 0
    for (name, text) in texts {
      for match in text.matches(of: /`([a-z_]+)(\.[a-z_0-9]+)+`/) {
        let code = match.output.0.dropFirst().dropLast()
        guard families.contains(String(match.output.1)), !Self.otherNames.contains(code) else { continue }
        named += 1
        let isThere = Code.allCases.contains { $0.rawValue == code || $0.rawValue.hasPrefix(code + ".") }
        #expect(isThere, "\(name): there is no code \(code)")
      }
    }
    #expect(named > 50)
  }

  @Test func `every verb is one of the program`() {
    let command = /(?:^|`|"|\s--\s|\$\(|; )mdoc ([a-z-]+)(?: ([a-z-]+))?(?: ([a-z-]+))?/.anchorsMatchLineEndings()
    var named = 0
    for (name, text) in texts {
      for match in text.matches(of: command) {
        let words = [match.output.1, match.output.2, match.output.3].compactMap { $0.map(String.init) }
        guard !words[0].hasPrefix("-"), words[0] != "is", words[0] != "verifies" else { continue }
        named += 1
        #expect(Self.isVerb(words[...], of: Program.root), "\(name): mdoc \(words.joined(separator: " "))")
      }
    }
    #expect(named > 100)
  }

  /// Whether the first word is a verb of this command, and the next one of its verbs, if it has some and there is one.
  private static func isVerb(_ words: ArraySlice<String>, of command: Command) -> Bool {
    guard let word = words.first, !command.verbs.isEmpty, !word.hasPrefix("-") else { return true }
    guard let verb = command.verbs.first(where: { $0.name == word }) else { return false }
    return isVerb(words.dropFirst(), of: verb)
  }
}
