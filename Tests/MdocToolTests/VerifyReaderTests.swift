import Base
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc verify reader` on the request of ISO/IEC 18013-5, Annex D.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct VerifyReaderTests {
  private let folder = PublishedVectors.folder + "/iso18013-5-annexD"
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func verify(_ more: String..., root: String? = nil) async -> Run {
    await Run(
      [
        "verify", "reader", folder + "/D.4.1.1-device-request.cbor", "--root",
        root ?? folder + "/D.5.4-reader-root-cert.der", "--at", "2020-12-01T00:00:00Z",
      ] + more)
  }

  @Test func `text and JSON name the reader, and every check with its clause`() async throws {
    let transcript = folder + "/D.5.1-session-transcript.cbor"
    let run = await verify("--transcript", transcript, "--html", scratch("page"))
    #expect(run.status == 0)
    let page = String(decoding: scratch.read("page"), as: UTF8.self)
    #expect(page.contains("verdict good\">AUTHENTICATED at ") && page.contains("<h2>docRequests[0].readerAuth, by CN="))
    #expect(run.output.hasPrefix("AUTHENTICATED at 2020-12-01T00:00:00Z"))
    #expect(run.output.contains("docRequests[0].readerAuth, by CN=reader"))
    let json = try await verify("--transcript", transcript, "--json").json()
    #expect(json["authenticated"] == true && json["kind"] == "device_request")
    let signature = try #require(json["signatures"]?.array?.first)
    #expect(signature["certificates"]?.array?.count == 2)
    let checks = try #require(signature["checks"]?.array)
    #expect(checks.first { $0["code"] == "reader_auth.signature_invalid" }?["outcome"] == "passed")
    #expect(checks.allSatisfy { $0["clause"]?.string?.isEmpty == false })
  }

  @Test func `another session, another root and another page are status 1, with what to do`() async throws {
    let other = try scratch.write("other.cbor", [0x83, 0xf6, 0xf6, 0xf6])
    let run = await verify("--transcript", other)
    #expect(run.status == 1)
    #expect(run.output.hasPrefix("NOT AUTHENTICATED") && run.output.contains("What to do: "))
    let root = await verify(
      "--transcript", folder + "/D.5.1-session-transcript.cbor", root: folder + "/D.5.2-iaca-cert.der")
    #expect(root.status == 1)
    #expect(await verify("--origin", "https://shop.example", "--encryption-info", "AAAA").status == 1)
  }

  @Test func `the output says that the certificate's profile is relaxed, and strictness excludes that`() async throws {
    let transcript = folder + "/D.5.1-session-transcript.cbor"
    let run = await verify("--transcript", transcript, "--relax-profile")
    #expect(run.status == 0 && run.output.contains("--relax-profile"))
    #expect(try await verify("--transcript", transcript, "--relax-profile", "--json").json()["profile_relaxed"] == true)
    #expect(try await verify("--transcript", transcript, "--json").json()["profile_relaxed"] == false)
    #expect(await verify("--transcript", transcript, "--relax-profile", "--strict").status == 64)
  }

  @Test func `the session must be given, in one way`() async throws {
    #expect(await verify().status == 64)
    #expect(await verify("--origin", "https://shop.example").status == 64)
    let transcript = folder + "/D.5.1-session-transcript.cbor"
    #expect(await verify("--origin", "https://shop.example", "--transcript", transcript).status == 64)
    let json = try scratch.write("request.json", "{\"data\": {}}")
    let run = await Run("verify", "reader", json, "--root", folder + "/D.5.4-reader-root-cert.der")
    #expect(run.status == 65 && run.hasOneLineOfError)
  }

  @Test func `what a session hands to the browser can be handed in as it is`() async throws {
    let run = await Run(
      "verify", "reader", PublishedVectors.folder + "/apple-dcapi/apple-doc-sample-request.json", "--root",
      folder + "/D.5.4-reader-root-cert.der", "--origin", "https://shop.example", "--json")
    #expect(run.status == 1)
    #expect(try run.json()["signatures"]?.array?.count == 1)
  }
}
