import Base
import FoundationEssentials
import Mock
import Testing

@testable import MdocTool

/// `mdoc trust import`: an accepted list becomes files that the other verbs trust; any other list writes nothing.
@Suite struct TrustImportTests {
  private let fixture: TrustListFixture
  private var scratch: Scratch { fixture.scratch }

  init() throws { fixture = try TrustListFixture() }

  private func importList(_ file: String, signer: String, _ more: String...) async -> Run {
    await Run(
      ["trust", "import", file, "--signer-anchor", scratch(signer), "--to", scratch("out"), "--json"] + more
        + fixture.at)
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: scratch("out"))) ?? []).sorted()
  }

  @Test func `What a VICAL makes trusted verifies a document from the files`() async throws {
    let run = await importList(try fixture.vical("vical-good"), signer: "vical-root.pem")
    #expect(run.status == 0)
    #expect(try run.json()["files_written"] == 4 && names.count == 4)
    let listed = await Run(["trust", "list", "--trust", scratch("out"), "--json"] + fixture.at)
    let anchors = try #require(try listed.json()["anchors"]?.array)
    #expect(anchors.count == 2 && anchors.allSatisfy { $0["tier"] == "test" })
    #expect(
      Set(anchors.compactMap { $0["doc_types"]?.array?.first?.string }) == [
        "org.iso.18013.5.1.mDL", "org.iso.7367.1.mVRC",
      ])
    await fixture.makeAnswer()
    let verified = await Run(
      [
        "verify", "response", "--response", scratch("r.cbor"), "--transcript", scratch("t.cbor"), "--trust",
        scratch("out"),
      ]
        + fixture.at)
    #expect(verified.status == 0)
  }

  @Test func `A list of trusted entities needs to be told what its services issue`() async throws {
    let list = try fixture.lote("lote")
    let service = MockList.issuanceService
    let run = await importList(
      list, signer: "lote-root.pem", "--services", service + "=org.iso.18013.5.1.mDL", "--services",
      service + "=org.iso.23220.photoid.1", "--max-path-length", "1", "--eku", "1.2.3")
    #expect(run.status == 0)
    let settings = try #require(names.first { $0.hasSuffix(".json") })
    let json = try JSON(parsing: scratch.read("out/" + settings))
    #expect(json["doc_types"] == ["org.iso.18013.5.1.mDL", "org.iso.23220.photoid.1"])
    #expect(json["ekus"] == ["1.2.3"] && json["max_path_length"] == 1 && json["kind"] == "authority")
    #expect(await importList(list, signer: "lote-root.pem").status == 64)
    #expect(await importList(list, signer: "lote-root.pem", "--services", "=a").status == 64)
    #expect(
      await importList(try fixture.vical("vical-good"), signer: "vical-root.pem", "--services", "a=b").status == 64)
    let other = await importList(list, signer: "lote-root.pem", "--services", "urn:other=org.iso.18013.5.1.mDL")
    #expect(other.status == 1)
  }

  @Test func `A signer that is listed itself is pinned`() async throws {
    let run = await importList(
      try fixture.lote("lote-direct-trust"), signer: "lote-root.pem", "--services",
      MockList.issuanceService + "=org.iso.18013.5.1.mDL", "--max-path-length", "1")
    #expect(run.status == 0)
    let settings = try #require(names.first { $0.hasSuffix(".json") })
    #expect(try JSON(parsing: scratch.read("out/" + settings))["kind"] == "document_signer")
    #expect(await Run("trust", "list", "--trust", scratch("out")).status == 0)
  }

  @Test func `A list that is refused writes nothing and names its codes`() async throws {
    let wrong = await importList(try fixture.vical("vical-good"), signer: "lote-root.pem")
    #expect(wrong.status == 1)
    #expect(try wrong.json().codes("failed") == ["list.signer_untrusted"])
    let late = await Run(
      "trust", "import", scratch("vical-good.cbor"), "--signer-anchor", scratch("vical-root.pem"), "--to",
      scratch("out"), "--at", "2026-11-23")
    #expect(late.status == 1 && late.output.contains("list.expired"))
    #expect(!FileManager.default.fileExists(atPath: scratch("out")))
  }

  @Test func `Entries that share a certificate are one anchor for all of their document types`() async throws {
    let run = await importList(try fixture.vical("vical-entry-twice"), signer: "vical-root.pem")
    #expect(run.status == 0)
    #expect(try run.json()["files_written"] == 4 && run.json()["entries_left_out"] == 0)
    let docTypes = try names.filter { $0.hasSuffix(".json") }
      .map { try JSON(parsing: scratch.read("out/" + $0))["doc_types"] }
    #expect(docTypes.contains(["org.iso.18013.5.1.mDL", "org.iso.23220.photoid.1", "org.example.other"]))
  }

  @Test func `An entry that is left out is counted and named`() async throws {
    let list = try fixture.vical("vical-entry-other-serial-number")
    let run = await importList(list, signer: "vical-root.pem")
    #expect(run.status == 0)
    #expect(try run.json()["entries_left_out"] == 1 && run.json()["files_written"] == 2)
    #expect(try run.json().codes("warning") == ["list.entry_mismatch"])
    let text = await Run(
      ["trust", "import", list, "--signer-anchor", scratch("vical-root.pem"), "--to", scratch("other")] + fixture.at)
    #expect(text.output.contains("1 anchor, 2 new files, 1 entries of the list left out"))
  }

  @Test func `All files are written or none`() async throws {
    let list = try fixture.vical("vical-good")
    // The folder cannot hold one of the import's files, since it has a folder of that name.
    #expect(await importList(list, signer: "vical-root.pem").status == 0)
    let last = try #require(names.last)
    try FileManager.default.removeItem(atPath: scratch("out"))
    try FileManager.default.createDirectory(atPath: scratch("out"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: scratch("out/" + last), withDestinationPath: "nowhere")
    #expect(await importList(list, signer: "vical-root.pem").status == 65)
    #expect(names == [last])
    let files = [(path: scratch("out/a"), bytes: [UInt8(1)]), (path: scratch("out/" + last), bytes: [2])]
    #expect(throws: Failure.self) { try FileAccess.writeAllNew(files) }
    #expect(names == [last])
  }

  @Test func `The rules for revocation lists stand in the settings`() async throws {
    let list = try fixture.vical("vical-good")
    let run = await importList(list, signer: "vical-root.pem", "--crl-addresses", "https", "--jwt-status-lists")
    #expect(run.status == 0)
    let name = try #require(names.first { $0.hasSuffix(".json") })
    let settings = try JSON(parsing: scratch.read("out/" + name))
    #expect(settings["crl_addresses"] == "https" && settings["jwt_status_lists"] == true)
    #expect(await importList(list, signer: "vical-root.pem", "--crl-addresses", "http").status == 64)
  }

  @Test func `The same list again changes nothing, and other content is never overwritten`() async throws {
    let list = try fixture.vical("vical-good")
    #expect(await importList(list, signer: "vical-root.pem").status == 0)
    let again = await importList(list, signer: "vical-root.pem")
    #expect(again.status == 0)
    #expect(try again.json()["files_written"] == 0)
    let settings = try #require(names.last { $0.hasSuffix(".json") })
    let certificate = try #require(names.first { $0.hasSuffix(".pem") })
    try scratch.write("out/" + settings, #"{"doc_types": ["mine"]}"#)
    try FileManager.default.removeItem(atPath: scratch("out/" + certificate))
    let run = await importList(list, signer: "vical-root.pem")
    #expect(run.status == 65 && run.hasOneLineOfError && run.error.contains(settings))
    #expect(scratch.read("out/" + settings) == Array(#"{"doc_types": ["mine"]}"#.utf8))
    #expect(!names.contains(certificate))
  }

  @Test func `Names are of harmless characters, whatever the certificate says`() async throws {
    _ = await importList(try fixture.vical("vical-good"), signer: "vical-root.pem")
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    #expect(!names.isEmpty && names.allSatisfy { $0.allSatisfy(allowed.contains) && !$0.hasPrefix("-") })
  }
}
