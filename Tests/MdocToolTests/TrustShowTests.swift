import Base
import Mock
import PKIX
import TestSupport
import Testing
import Trust

@testable import MdocTool

/// `mdoc trust show`: the content of a file, and whether it is verified.
@Suite struct TrustShowTests {
  private let fixture: TrustListFixture
  private var scratch: Scratch { fixture.scratch }

  init() throws { fixture = try TrustListFixture() }

  private func show(_ file: String, signer: String? = nil) async -> Run {
    await Run(
      ["trust", "show", file] + (signer.map { ["--signer-anchor", scratch($0)] } ?? []) + ["--json"] + fixture.at)
  }

  @Test func `A VICAL under its signer's anchor is accepted, with its entries`() async throws {
    let run = await show(try fixture.vical("vical-good"), signer: "vical-root.pem")
    #expect(run.status == 0)
    let json = try run.json()
    #expect(json["kind"] == "vical" && json["state"] == "accepted" && json["provider"] == "mdoc Mock")
    #expect(json.codes("failed").isEmpty && json.codes("passed").contains("list.signature_invalid"))
    let entries = try #require(json["entries"]?.array)
    #expect(entries.count == 2)
    #expect(entries[0]["doc_types"]?.array?.contains("org.iso.18013.5.1.mDL") == true)
    #expect(entries[0]["certificate"]?["sha256"]?.string?.count == 64)
    #expect(json["valid_until"]?.integer == (Timestamp(date: fixture.now.date) + 2 * 86_400).secondsSince1970)
  }

  @Test func `Without a signer's anchor it is shown as unverified`() async throws {
    let list = try fixture.vical("vical-good")
    let run = await show(list)
    #expect(run.status == 0)
    let json = try run.json()
    #expect(json["state"] == "unverified" && json["entries"]?.array?.count == 2 && json["valid_until"] == .null)
    let text = await Run(["trust", "show", list] + fixture.at)
    #expect(text.output.contains("UNVERIFIED") && !text.output.contains("ACCEPTED"))
    #expect(text.output.contains("2 entries"))
  }

  @Test func `A status list is recognised in both forms, and never more than unverified`() async throws {
    let uri = "https://lists.example/1"
    let bytes = try MockList.good(.status).published(by: fixture.authority, at: uri, now: fixture.now)
    let run = await show(try scratch.write("status.cwt", bytes), signer: "vical-root.pem")
    #expect(run.status == 0)
    let json = try run.json()
    #expect(json["kind"] == "status_list" && json["form"] == "cwt" && json["state"] == "unverified")
    #expect(json["subject"]?.string == uri && json["expires_at"]?.integer != nil)
    let text = await Run(["trust", "show", scratch("status.cwt")] + fixture.at)
    #expect(text.output.contains("Status list (CBOR Web Token)") && text.output.contains(uri))
    let (bits, statuses) = (json["bits"]?.integer ?? 0, json["statuses"]?.integer ?? 0)
    #expect([1, 2, 4, 8].contains(bits) && statuses > 0 && statuses % (8 / bits) == 0)
    #expect(text.output.contains("\(statuses), of \(bits) bit"))
    let identifiers = try MockList.good(.identifiers).published(by: fixture.authority, at: uri, now: fixture.now)
    let other = await show(try scratch.write("identifiers.cwt", identifiers))
    #expect(try other.json()["kind"] == "identifier_list" && other.json()["identifiers"]?.integer != nil)
  }

  @Test(arguments: ["status-not-compressed", "status-truncated", "status-without-bits"])
  func `A status list that no verifier can unpack is refused`(name: String) async throws {
    let list = try #require(MockList.named(name))
    let bytes = try list.published(by: fixture.authority, at: "https://lists.example/1", now: fixture.now)
    let run = await show(try scratch.write("status.cwt", bytes))
    let json = try run.json()
    #expect(run.status == 1 && json["state"] == "refused" && json["bits"] == nil)
    #expect(json.codes("failed") == ["revocation.status_list_invalid"])
  }

  @Test func `A list whose anchor is the signer itself is called so`() async throws {
    let list = try #require(MockList.named("vical-good"))
    let bytes = try list.published(by: fixture.authority, now: fixture.now)
    let signer = try #require(UnverifiedList(bytes)?.signerChain.first)
    try scratch.write("signer.pem", PEM.encode(certificate: signer.der))
    let run = await show(try scratch.write("list.cbor", bytes), signer: "signer.pem")
    #expect(try run.status == 0 && run.json()["signer_is_anchor"] == true)
    #expect(try await show(scratch("list.cbor"), signer: "vical-root.pem").json()["signer_is_anchor"] == false)
    let text = await Run(
      ["trust", "show", scratch("list.cbor"), "--signer-anchor", scratch("signer.pem")] + fixture.at)
    #expect(text.output.contains("the signer's own certificate"))
  }

  @Test func `Under another anchor it is refused`() async throws {
    let run = await show(try fixture.vical("vical-good"), signer: "lote-root.pem")
    #expect(run.status == 1)
    #expect(try run.json()["state"] == "refused" && run.json().codes("failed") == ["list.signer_untrusted"])
  }

  @Test func `A list of trusted entities under its operator's root is accepted`() async throws {
    let run = await show(try fixture.lote("lote"), signer: "lote-root.pem")
    #expect(run.status == 0)
    let json = try run.json()
    #expect(json["kind"] == "trusted_entities" && json["state"] == "accepted" && json["territory"] == "EU")
    let services = try #require(json["entries"]?.array?.first?["services"]?.array)
    #expect(services.allSatisfy { $0["granted"] == true && $0["certificates"]?.array?.isEmpty == false })
  }

  @Test func `Its bare payload is never more than unverified`() async throws {
    let signed = try String(decoding: FileAccess.read(fixture.lote("lote"), purpose: "list"), as: UTF8.self)
    let payload = try #require(Base64.decodeURLSafe(String(signed.split(separator: ".")[1])))
    let file = try scratch.write("payload.json", payload)
    let run = await show(file, signer: "lote-root.pem")
    #expect(run.status == 0)
    #expect(try run.json()["state"] == "unverified" && run.json()["entries"]?.array?.isEmpty == false)
    let text = await Run(["trust", "show", file] + fixture.at)
    #expect(text.output.contains("unsigned payload of a list"))
  }

  @Test func `A list that can't be read is refused with the reader's code`() async throws {
    let run = await show(try fixture.lote("lote-no-operator"))
    #expect(run.status == 1)
    #expect(try run.json()["state"] == "refused" && !run.json().codes("failed").isEmpty)
  }

  @Test func `A list that is cut off is refused, and not of another kind`() async throws {
    let bytes = try FileAccess.read(fixture.vical("vical-good"), purpose: "list")
    let run = await show(try scratch.write("cut", Array(bytes.dropLast())), signer: "vical-root.pem")
    #expect(run.status == 1)
    #expect(try run.json()["state"] == "refused" && run.json().codes("failed") == ["list.malformed"])
  }

  @Test func `A revocation list is verified by its authority alone`() async throws {
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + fixture.at).status == 0)
    let list = try fixture.crl("crl-signer-revoked")
    let good = await show(list, signer: "anchors/iaca.pem")
    #expect(good.status == 0)
    #expect(try good.json()["kind"] == "crl" && good.json()["state"] == "accepted")
    #expect(try good.json()["entries"]?.array?.first?["serial_number"]?.string?.isEmpty == false)
    let other = await show(list, signer: "anchors/iaca-expired.pem")
    #expect(other.status == 1)
    #expect(try other.json().codes("failed") == ["revocation.crl_invalid"])
    #expect(try await show(list).json()["state"] == "unverified")
  }

  @Test func `A certificate is shown with its role, and vouches for nobody`() async throws {
    let run = await show(scratch("vical-root.pem"))
    #expect(run.status == 0)
    #expect(try run.json()["kind"] == "certificates" && run.json()["state"] == "unverified")
    #expect(try run.json()["entries"]?.array?.first?["role"] == "iaca")
  }

  @Test func `A file of another kind is our fault`() async throws {
    for content in ["", "hello", "{}", "[1,2]"] {
      let run = await show(try scratch.write("other", content))
      #expect(run.status == 65 && run.hasOneLineOfError)
    }
    #expect(await show(scratch("absent")).status == 65)
    #expect(await Run("trust", "show").status == 64)
  }

  @Test(
    .enabled(if: PublishedVectors.areHere),
    arguments: [
      ("aamva-vical-2024-09-24.cbor", "2024-09-24T18:00:00Z", 3),
      ("aamva-vical-2025-11-18-1763491092481.cbor", "2025-11-18T19:00:00Z", 14),
    ])
  func `AAMVA's published lists have their entries`(file: String, time: String, count: Int) async throws {
    let folder = PublishedVectors.folder + "/vical/"
    let run = await Run(
      "trust", "show", folder + file, "--signer-anchor", folder + "aamva-dts-root.pem", "--at", time, "--json")
    #expect(run.status == 0)
    #expect(try run.json()["state"] == "accepted" && run.json()["entries"]?.array?.count == count)
  }

  @Test(
    .enabled(if: PublishedVectors.areHere),
    arguments: ["eudi-refimpl-pid-providers-2026-03-16.json", "webuild-wrpac-providers-lote.json"])
  func `Published payloads are shown as unverified`(file: String) async throws {
    let run = await Run("trust", "show", PublishedVectors.folder + "/lote/" + file, "--json")
    #expect(run.status == 0)
    #expect(try run.json()["state"] == "unverified" && run.json()["entries"]?.array?.isEmpty == false)
  }
}
