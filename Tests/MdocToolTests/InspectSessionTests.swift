import Base
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc inspect --session`.
@Suite struct InspectSessionTests {
  private let scratch: Scratch
  private let nonce = String(repeating: "ab", count: 32)

  init() throws { scratch = try Scratch() }

  private func session(_ more: String..., merchant: String = "merchant.example.shop") -> [String] {
    [
      "inspect", "--session", "apple-in-app", "--nonce", nonce, "--merchant-id", merchant, "--team-id", "ABCDE12345",
      "--key", scratch("key"),
    ] + more
  }

  private func makeAnswer() async {
    #expect(await Run("keys", "generate", "--out", scratch("key")).status == 0)
    let made = await Run(
      "mock", "apple", "--nonce", nonce, "--merchant-id", "merchant.example.shop", "--team-id", "ABCDE12345",
      "--recipient", scratch("key"), "--out", scratch("answer"))
    #expect(made.status == 0)
  }

  @Test func `shows the transcript, its hash, and what an answer's signatures are made over, but no value`()
    async throws
  {
    await makeAnswer()
    let alone = try await Run(session("--json")).json()
    #expect(alone["transcript"]?["hex"]?.string?.hasPrefix("83f6f685781c") == true)
    #expect(alone["info_hash"]?.string?.count == 64 && alone["documents"] == [])
    let json = try await Run(session("--envelope", scratch("answer"), "--json")).json()
    #expect(json["info_hash"] == alone["info_hash"])
    let document = try #require(json["documents"]?.array?.first)
    #expect(document["issuer"]?["sha256"]?.string?.count == 64 && document["device"]?["sha256"]?.string?.count == 64)
    let text = await Run(session("--envelope", scratch("answer")))
    #expect(text.status == 0 && text.output.contains("AppleIdentityPresentment_1.0"))
    #expect(text.output.contains("Issuer Sig_structure") && !text.output.contains("Morgan"))
  }

  @Test func `says of an answer of another session which mistake would have made it`() async throws {
    await makeAnswer()
    let other = await Run(session("--envelope", scratch("answer"), merchant: "merchant.other"))
    #expect(other.status == 1 && other.error.contains("envelope.transcript_mismatch"))
    let swapped = await Run(
      "inspect", "--session", "apple-in-app", "--nonce", nonce, "--merchant-id", "ABCDE12345", "--team-id",
      "merchant.example.shop", "--key", scratch("key"), "--envelope", scratch("answer"))
    #expect(swapped.status == 1 && swapped.error.contains("merchant and team swapped"))
  }

  @Test func `options of a session go with one, and a session needs them`() async throws {
    await makeAnswer()
    let file = try scratch.write("item", "a0")
    #expect(await Run("inspect", file, "--nonce", nonce).status == 64)
    #expect(await Run("inspect").status == 64)
    #expect(await Run("inspect", "--session", "apple-in-app").status == 64)
    #expect(await Run(session(file)).status == 64)
    #expect(await Run(session("--show-values")).status == 64)
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `gives Apple's own figures for Apple's sample`() async throws {
    let folder = PublishedVectors.folder + "/apple-in-app/sample"
    let parameters = String(
      decoding: try PublishedVectors.bytes("apple-in-app/sample/session_transcript_parameters.txt"), as: UTF8.self)
    let nonce = try #require(parameters.split(separator: "\n").first?.dropFirst("Nonce: ".count))
    let run = await Run(
      "inspect", "--session", "apple-in-app", "--nonce", String(nonce), "--merchant-id",
      "PassKit_Identity_Test_Merchant_ID", "--team-id", "PassKit_Identity_Test_Team_ID", "--key",
      folder + "/merchant_encryption_private_scalar.hex", "--envelope", folder + "/hpke_envelope.cbor")
    #expect(run.output.contains("59a47fc9fa2402cfefa5e889183d4222cb15bb10807e53d90b4eef5eb9ff1d96"))
    #expect(
      run.output.contains("2b9e42a3a5263280b86c61172af4316d2b53e1b491c76b9455b5517092d5172b"))
    #expect(
      run.output.contains("2f0ff9caca3a14537a5b626137e97e385993e7384ec79ee4bc069279bc9abf65"))
    #expect(run.output.contains("1303 bytes") && run.output.contains("271 bytes"))
    #expect(!run.output.contains("Jane"))
  }
}
