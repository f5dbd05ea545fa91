import Base
import Testing

@testable import Pages

@Suite struct LanguageTests {
  private struct Language {
    let tag: String
    let data: JSON

    func names(_ part: String) -> Set<String> { Set((data[part]?.object ?? []).map(\.name)) }
  }

  private static func all() throws -> [Language] {
    try PageAsset.languages.map { Language(tag: $0.tag, data: try JSON(parsing: $0.data)) }
  }

  @Test func `every language says everything, in texts that are not empty`() throws {
    let languages = try Self.all()
    let english = try #require(languages.first { $0.tag == "en" })
    #expect(english.names("text").count > 20)
    let others = languages.filter { $0.tag != "en" }
    for language in languages {
      #expect(language.names("text") == english.names("text"), "\(language.tag)")
      #expect(["ltr", "rtl"].contains(language.data["direction"]?.string))
      for part in ["text", "documents", "elements"] {
        for member in language.data[part]?.object ?? [] { #expect(member.value.string?.isEmpty == false) }
      }
    }
    for language in others {
      #expect(language.names("elements") == others[0].names("elements"), "\(language.tag)")
      #expect(language.names("documents") == others[0].names("documents"), "\(language.tag)")
    }
  }

  @Test func `every text has the same gaps in every language`() throws {
    let languages = try Self.all()
    for name in languages[0].names("text") {
      let gaps = languages.map { language in
        Set((language.data["text"]?[name]?.string ?? "").matches(of: /\{\w+\}/).map { String($0.output) })
      }
      #expect(Set(gaps).count == 1, "\(name)")
    }
  }

  @Test func `the script knows these languages, and asks for no text that is missing`() throws {
    let languages = try Self.all()
    let list = String(decoding: PackageResources.language_js, as: UTF8.self)
    for language in languages { #expect(list.contains("\(language.tag): \"")) }
    let script = [PackageResources.page_js, PackageResources.asked_js].map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: "\n")
    let known = languages[0].names("text")
    let asked = script.matches(of: /text\("([a-z-]+)"/).map { String($0.1) }
    #expect(asked.count > 10)
    for state in script.matches(of: /^  ([a-z]+): \["[a-z]+", "(brand|good|bad|warn)"\]/.anchorsMatchLineEndings()) {
      #expect(known.contains(String(state.1)), "\(state.1)")
    }
    for name in asked { #expect(known.contains(name), "\(name)") }
    for name in script.matches(of: /"(failed-[a-z]+)"/) { #expect(known.contains(String(name.1))) }
  }

  @Test func `the style has no left and no right`() {
    let style = String(decoding: PackageResources.page_css, as: UTF8.self)
    #expect(style.matches(of: /(left|right)\s*:/).isEmpty && style.matches(of: /-(left|right)\b/).isEmpty)
  }
}
