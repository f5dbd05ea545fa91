import App
import Base
import Cryptography
import FoundationEssentials
import Glibc
import Mock
import PKIX
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc init`: a folder that a server starts with, or nothing.
@Suite struct InitTests {
  let folder: Scratch
  /// A file with an invented root without the mock's marker.
  let anchor: String

  init() throws {
    folder = try Scratch()
    let reader = try SelfMadeReader(
      name: "sandbox", host: "sandbox.example", revocationList: "https://sandbox.example/crl", at: .systemNow())
    anchor = try folder.write("sandbox.pem", PEM.encode(certificate: reader.authority))
  }

  private func run(_ arguments: String...) async -> Run { await Run(["init", folder("new")] + arguments) }

  private func configuration() throws -> JSON { try JSON(parsing: folder.read("new/mdoc.json")) }

  /// All files beside the anchor.
  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  private func mode(_ name: String) -> mode_t {
    var facts = stat()
    return stat(folder(name), &facts) == 0 ? facts.st_mode & 0o777 : 0
  }

  /// The package's test runs it where there are the group and the folder.
  @Test func `for the package it needs the package's group, and for anything else a folder`() async throws {
    let without = await Run("init", "--mode", "live", "--trust", anchor)
    #expect(without.status == 64 && without.error.contains("FOLDER is required, unless --system is given"))
    guard getgrnam("mdoc") == nil else { return }
    let run = await run("--mode", "live", "--trust", anchor, "--system")
    #expect(run.status == 65 && run.error.contains("there is no group mdoc"), "\(run.error)")
    #expect(names == ["sandbox.pem"])
  }

  @Test(arguments: ["staging", "live"]) func `a folder is good at once`(mode: String) async throws {
    let run = await run(
      "--mode", mode, "--trust", anchor, "--origin", "https://shop.example", "--origin", "https://m.shop.example",
      "--public-url", "https://id.shop.example", "--relying-party", "shop", "--apple-merchant", "merchant.example.shop",
      "--apple-team", "ABCDE12345")
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let check = await Run("serve", "--config", folder("new/mdoc.json"), "--check-config")
    #expect(check.status == 0)
    let lines = check.output.split(separator: "\n")
    #expect(lines.last == "\(folder("new/mdoc.json")): good")
    // The files that init wrote have no faults; only the test's anchor deviates from the profile of issuing
    // authorities.
    #expect(!lines.contains { $0.contains("reader") || $0.contains("merchant") || $0.contains("prox") }, "\(lines)")
    let json = try configuration()
    #expect(json["mode"] == .string(mode) && json["behind_proxy"] == true)
    let party = try #require(json["relying_parties"]?.array?.first)
    #expect(party["id"] == "shop" && party["origins"] == ["https://shop.example", "https://m.shop.example"])
    #expect(party["apple"]?["team_id"] == "ABCDE12345")
    #expect((party["readers"] != nil) == (mode == "staging"))
    #expect(party["page"] == ["name": "shop"])
    let monitoring = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("Monitoring key") })
    let key = String(try #require(monitoring.split(separator: " ").last))
    let hashes = party["api_keys"]?.array?.map { ($0["sha256"]?.string ?? "", $0["scopes"]) } ?? []
    let hash = Hex.encode(HashAlgorithm.sha256.hash(Array(key.utf8)))
    #expect(hashes.contains { $0.0 == hash && $0.1 == ["admin"] } && run.output.contains("credentials: \(key)"))
  }

  @Test func `the API key is printed once, and the folder has its hash alone`() async throws {
    let run = await run("--mode", "staging", "--trust", anchor, "--json")
    let key = try #require(try run.json()["api_key"]?.string)
    let entry = try #require(try configuration()["relying_parties"]?.array?.first?["api_keys"]?.array?.first)
    #expect(entry["sha256"] == .string(Hex.encode(HashAlgorithm.sha256.hash(Array(key.utf8)))))
    #expect(entry["scopes"] == ["sessions:write", "results:read"])
    for name in try #require(try run.json()["files"]?.array) {
      #expect(!String(decoding: folder.read("new/\(name.string ?? "")"), as: UTF8.self).contains(key), "\(name)")
    }
  }

  @Test func `secrets are their owner's alone, and kept out of repositories`() async throws {
    let run = await run(
      "--mode", "live", "--trust", anchor, "--public-url", "https://id.shop.example", "--apple-merchant", "m",
      "--apple-team", "t")
    #expect(run.status == 0)
    #expect(mode("new/keys") == 0o700)
    for key in ["sealing.key", "merchant.pem", "reader.pem"] { #expect(mode("new/keys/\(key)") == 0o600, "\(key)") }
    #expect(Hex.decode(String(decoding: folder.read("new/keys/sealing.key").dropLast(), as: UTF8.self))?.count == 32)
    #expect(String(decoding: folder.read("new/.gitignore"), as: UTF8.self).contains("/keys/\n"))
  }

  @Test func `an anchor without settings gets the tier test in staging and none in live`() async throws {
    #expect(await run("--mode", "staging", "--trust", anchor).status == 0)
    let settings = try JSON(parsing: folder.read("new/trust/sandbox.json"))
    #expect(settings == ["doc_types": ["org.iso.18013.5.1.mDL"], "tier": "test"])
    #expect(await Run("init", folder("live"), "--mode", "live", "--trust", anchor).status == 0)
    #expect(!FileManager.default.fileExists(atPath: folder("live/trust/sandbox.json")))
    // Its own settings are copied too.
    try folder.write("sandbox.json", #"{"doc_types": ["org.example"]}"#)
    #expect(await Run("init", folder("own"), "--mode", "staging", "--trust", anchor).status == 0)
    #expect(folder.read("own/trust/sandbox.json") == folder.read("sandbox.json"))
  }

  @Test(arguments: ["staging", "live"])
  func `without an anchor that is the one thing left to do`(mode: String) async throws {
    let run = await run("--mode", mode)
    #expect(run.status == 0)
    #expect(run.output.components(separatedBy: "To do: ").count == 2 && run.output.contains("new/trust/"))
    let check = ConfigurationCheck(path: folder("new/mdoc.json"))
    #expect(check.problems.map(\.pointer) == ["/trust"] && check.warnings == [])
    let text = String(decoding: folder.read("sandbox.pem"), as: UTF8.self)
    try folder.write("new/trust/iaca.pem", text)
    #expect(ConfigurationCheck(path: folder("new/mdoc.json")).problems == [])
  }

  @Test func `the reader of staging fits its profile, and its requests are asked for in live`() async throws {
    #expect(
      await run("--mode", "staging", "--trust", anchor, "--public-url", "https://id.shop.example").status == 0)
    let check = await Run(
      "trust", "check", folder("new/keys/reader-chain.pem"), folder("new/keys/reader-authority.pem"))
    #expect(check.status == 0 && check.output.contains("Role     reader-authentication"), "\(check.output)")
    // The list that they name is served by the server, and signed by their authority.
    #expect(try configuration()["reader_crl"] == "reader.crl")
    let list = await Run(
      "trust", "show", folder("new/reader.crl"), "--signer-anchor", folder("new/keys/reader-authority.pem"))
    #expect(list.status == 0 && list.output.contains("ACCEPTED") && list.output.contains("0 certificates"))
    #expect(
      await Run("init", folder("live"), "--mode", "live", "--public-url", "https://id.shop.example").status == 0)
    let request = String(decoding: folder.read("live/keys/reader.csr"), as: UTF8.self)
    #expect(request.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n"))
    let body = request.split(separator: "\n").dropFirst().dropLast().joined()
    let der = try #require(Data(base64Encoded: body))
    // The objects keyUsage, extendedKeyUsage, 1.0.18013.5.1.6 and subjectAltName.
    let objects: [[UInt8]] = [
      [6, 3, 0x55, 0x1D, 0x0F], [6, 3, 0x55, 0x1D, 0x25], [6, 7, 0x28, 0x81, 0x8C, 0x5D, 5, 1, 6],
      [6, 3, 0x55, 0x1D, 0x11],
    ]
    for object in objects { #expect([UInt8](der).contains(object), "\(object)") }
  }

  @Test func `nothing that is there is overwritten`() async throws {
    try FileManager.default.createDirectory(atPath: folder("new"), withIntermediateDirectories: true)
    let before = names
    let run = await run("--mode", "live", "--trust", anchor)
    #expect(run.status == 65 && run.hasOneLineOfError && run.error.contains("exists already, and was not changed"))
    #expect(names == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("new")).isEmpty)
  }

  /// The further arguments, and the words of the message.
  static let faults: [([String], Int32, String)] = [
    (["--mode", "test"], 64, "--test-mode"), (["--mode", "production"], 64, "--mode"), ([], 64, "--mode"),
    (["--mode", "live", "--listen", "localhost:80"], 64, "--listen"),
    (["--mode", "live", "--listen", "0.0.0.0:8080"], 64, "--proxy"),
    (["--mode", "live", "--listen", "0.0.0.0:8080", "--proxy", "everywhere"], 64, "--proxy"),
    (["--mode", "live", "--origin", "https://shop.example/"], 64, "--origin"),
    (["--mode", "live", "--public-url", "http://id.shop.example"], 64, "--public-url"),
    (["--mode", "live", "--relying-party", "a b"], 64, "--relying-party"),
    (["--mode", "live", "--apple-merchant", "m"], 64, "--apple-team"),
    (["--mode", "live", "--trust", "/nonexistent/iaca.pem"], 65, "trust anchor"),
  ]

  @Test(arguments: faults)
  func `a fault names the option and leaves nothing`(arguments: [String], status: Int32, text: String) async throws {
    let before = names
    let run = await Run(["init", folder("new")] + arguments)
    #expect(run.status == status && run.hasOneLineOfError && run.error.contains(text), "\(run.error)")
    #expect(names == before)
  }

  @Test(arguments: ["staging", "live"])
  func `an anchor whose private key is public is refused, and nothing is left`(mode: String) async throws {
    let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
    let file = try folder.write("mock.pem", PEM.encode(certificate: mock.certificate))
    let before = names
    let run = await run("--mode", mode, "--trust", file)
    #expect(run.status == 64 && run.error.contains("--trust: ") && run.error.contains("mock authority"), "\(run.error)")
    #expect(!run.error.contains(".new"))
    #expect(names == before)
  }

  @Test func `an anchor that its settings keep for tests does for staging and not for live`() async throws {
    try folder.write("sandbox.json", #"{"tier": "test"}"#)
    let live = await run("--mode", "live", "--trust", anchor)
    #expect(live.status == 64 && live.error.contains("--trust: no trust anchor for live mode"), "\(live.error)")
    #expect(await run("--mode", "staging", "--trust", anchor).status == 0)
  }

  @Test func `a folder in which nothing can be made is a fault`() async throws {
    let run = await Run("init", folder("none/new"), "--mode", "live")
    #expect(run.status == 65 && run.hasOneLineOfError)
  }
}
