import Base
import Mock
import Sessions
import Testing

@testable import MdocTool

/// The verdicts of `mdoc verify` in text, in JSON and by its status, and the values that it never prints.
@Suite struct VerdictTextTests {
  private let scratch: Scratch

  init() async throws {
    scratch = try Scratch()
    _ = await Run("mock", "anchors", "--out", scratch("anchors"))
  }

  private func verify(variant: String, _ more: String...) async throws -> Run {
    let made = await Run(
      "mock", "response", "--new-transcript", scratch("t-\(variant)"), "--variant", variant, "--out", scratch(variant))
    try #require(made.status == 0, "\(made.error)")
    return await Run(
      [
        "verify", "response", "--response", scratch(variant), "--transcript", scratch("t-\(variant)"), "--trust",
        scratch("anchors"),
      ] + more)
  }

  @Test func `an answer with nothing in it has a headline, a member and a status of its own`() async throws {
    let run = try await verify(variant: "elements-none")
    #expect(run.status == 3)
    #expect(run.output.hasPrefix("VERIFIED, BUT NOTHING WAS DISCLOSED at "))
    #expect(run.output.contains("discloses nothing that was requested"))
    let json = try await verify(variant: "elements-none", "--json").json()
    #expect(json["status"] == "verified" && json["nothing_disclosed"] == true)
    #expect(try await verify(variant: "elements-none", "--strict").status == 1)
    let good = try await verify(variant: "good", "--json")
    #expect(good.status == 0)
    #expect(try good.json()["nothing_disclosed"] == false)
  }

  @Test func `a character of an unprotected name is not simply verified`() async throws {
    _ = try await verify(variant: "good")
    var bytes = scratch.read("good")
    let name = Array("nameSpaces".utf8)
    let place = try #require((0...(bytes.count - name.count)).first { Array(bytes[$0..<($0 + name.count)]) == name })
    bytes[place] ^= 0x01
    try scratch.write("flipped", bytes)
    let run = await Run(
      "verify", "response", "--response", scratch("flipped"), "--transcript", scratch("t-good"), "--trust",
      scratch("anchors"))
    #expect(run.status != 0)
  }

  @Test func `each failed code has its remedy, and none is said twice`() async throws {
    let run = try await verify(variant: "device-signature-zero", "--at", "2040-01-01")
    #expect(run.status == 1)
    let codes = [Code.anchorExpired, .certificateExpired, .expired, .deviceSignatureInvalid]
    let text = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for code in codes {
      #expect(text.contains("(\(code.rawValue)) \(code.entry.remedy)"), "\(code)")
    }
    #expect(text.ranges(of: "What to do").count == codes.count)
  }

  @Test func `hidden controls are escaped in whatever is printed, and JSON stays what it was`() throws {
    let hidden = [
      "\u{85}", "\u{9b}", "\u{7f}", "\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}",
    ]
    for text in hidden {
      let json: JSON = ["name": .string("a\(text)b"), "list": [.string(text)]]
      let printed = Locked<[UInt8]>([])
      let console = Console { _, bytes in
        printed.withLock { $0 += bytes }
        return true
      }
      console.print(json)
      let output = printed.withLock { $0 }
      #expect(!hasHiddenControls(String(decoding: output, as: UTF8.self)))
      #expect(try JSON(parsing: output) == json)
      printed.withLock { $0 = [] }
      console.print("a\(text)b é €")
      console.printError("a\(text)b")
      let lines = String(decoding: printed.withLock { $0 }, as: UTF8.self)
      #expect(!hasHiddenControls(lines) && lines.contains("é €"))
    }
  }

  private func hasHiddenControls(_ text: String) -> Bool { text.unicodeScalars.contains { $0.isHiddenControl } }
}
