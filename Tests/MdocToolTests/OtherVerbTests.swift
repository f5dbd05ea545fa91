import Base
import FoundationEssentials
import Sessions
import Testing

@testable import MdocTool

/// `mdoc keys`, `codes`, `trust` and `inspect`.
@Suite struct OtherVerbTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func permissions(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: scratch(name))[.posixPermissions] as? Int
  }

  @Test func `Progress is one line of a terminal's standard error, and is gone at the end`() {
    for isTerminal in [true, false] {
      let printed = Locked<[UInt8]>([])
      let console = Console(showsProgress: isTerminal) { stream, bytes in
        printed.withLock { $0 += stream == .error ? bytes : Array("output".utf8) }
        return true
      }
      let progress = console.progress
      progress(1, 4)
      progress(2, 4)
      progress(4, 4)
      let text = String(decoding: printed.withLock { $0 }, as: UTF8.self)
      let isShown = text.hasPrefix("\r\u{1b}[K1 of 4, about ") && text.hasSuffix(" s left\r\u{1b}[K")
      #expect(isTerminal ? isShown : text.isEmpty, "\(text.debugDescription)")
      #expect(!text.contains("2 of 4"), "at most five times a second")
    }
  }

  @Test(arguments: ["encryption", "reader", "sealing", "api"])
  func keysAreTheirOwnersAloneAndNeverOverwritten(type: String) async throws {
    #expect(await Run("keys", "generate", "--type", type, "--out", scratch("key")).status == 0)
    #expect(try permissions("key") == 0o600)
    let key = scratch.read("key")
    #expect(key.count > 40)
    let again = await Run("keys", "generate", "--type", type, "--out", scratch("key"))
    #expect(again.status == 65)
    #expect(again.hasOneLineOfError)
    #expect(scratch.read("key") == key)
  }

  @Test func anAPIKeyIsPrintedWithTheHashForTheConfiguration() async throws {
    let json = try await Run("keys", "generate", "--type", "api", "--json").json()
    #expect(json["key"]?.string?.count ?? 0 > 40)
    #expect(json["sha256"]?.string?.count == 64)
    #expect(await Run("keys", "generate", "--type", "sealing").status == 64)
    let filed = await Run("keys", "generate", "--type", "sealing", "--out", scratch("key"))
    #expect(!filed.output.contains(String(decoding: scratch.read("key").prefix(64), as: UTF8.self)))
  }

  @Test func codesAreListedAll() async throws {
    let list = try #require(try await Run("codes", "--json").json().array)
    #expect(list.compactMap { $0["code"]?.string } == Code.allCases.map(\.rawValue))
    #expect(list.allSatisfy { $0["http_status"]?.integer != nil && $0["remedy"]?.string?.isEmpty == false })
    let text = await Run("codes", width: 80).output
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func anchorsAreListedWithWhatTheyAreFor() async throws {
    let time = ["--at", "2026-11-20"]
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + time).status == 0)
    let run = await Run(["trust", "list", "--trust", scratch("anchors"), "--json"] + time)
    #expect(run.status == 0)
    let anchors = try #require(try run.json()["anchors"]?.array)
    #expect(anchors.allSatisfy { $0["tier"] == "test" && $0["doc_types"]?.array?.isEmpty == false })
    #expect(anchors.contains { $0["valid"] == false } && anchors.contains { $0["valid"] == true })
    let text = await Run(["trust", "list", "--trust", scratch("anchors")] + time).output
    #expect(text.contains("CN=mdoc Mock IACA, "))
    #expect(text.contains("EXPIRED"))
    #expect(await Run("trust", "list", "--trust", scratch("absent")).status == 65)
  }

  @Test func inspectHidesValuesUnlessAsked() async throws {
    let file = try scratch.write("item", "a1 6c 656c656d656e7456616c7565 63 416461")
    let hidden = await Run("inspect", file)
    #expect(hidden.status == 0)
    #expect(hidden.output == "{\n  \"elementValue\": \"…\"\n}\n")
    #expect(await Run("inspect", file, "--show-values").output == "{\n  \"elementValue\": \"Ada\"\n}\n")
    #expect(try await Run("inspect", file, "--json").json()["encoding"] == "hex")
  }

  @Test func inspectShowsCertificates() async throws {
    let made = await Run("mock", "response", "--new-transcript", scratch("t"), "--out", scratch("r"))
    #expect(made.status == 0)
    let run = await Run("inspect", scratch("r"))
    #expect(run.output.contains("Subject  mdoc Mock Document Signer"))
    #expect(!run.output.contains("Morgan"))
  }

  @Test func inspectSaysWhereCBOREnds() async throws {
    let file = try scratch.write("broken", [0x82, 0x01])
    let run = await Run("inspect", file, "--json")
    #expect(run.status == 1)
    #expect(try run.json()["error"]?["code"] == "cbor.truncated")
    #expect(run.hasOneLineOfError)
    #expect(await Run("inspect", scratch("absent")).status == 65)
  }

  @Test func textFromElsewhereCannotSteerTheTerminal() {
    #expect("a\u{1b}[31mb\n\u{202e}".printableLine == "a\\u{1b}[31mb\\n\\u{202e}")
  }

  @Test func whatCannotBePrintedIsNotDelivered() async {
    let console = Console { stream, _ in stream == .error }
    #expect(await Program.run(["codes"], console: console) == 75)
  }
}
