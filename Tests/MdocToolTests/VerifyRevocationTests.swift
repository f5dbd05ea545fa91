import Base
import Testing

@testable import MdocTool

/// `mdoc verify … --revocation`: lists from files, and no network unless requested.
@Suite struct VerifyRevocationTests {
  private let fixture: TrustListFixture
  private var scratch: Scratch { fixture.scratch }

  init() async throws {
    fixture = try TrustListFixture()
    await fixture.makeAnswer()
  }

  private func verify(_ more: String...) async -> Run {
    await Run(
      [
        "verify", "response", "--response", scratch("r.cbor"), "--transcript", scratch("t.cbor"), "--trust",
        scratch("anchors/iaca.pem"), "--json",
      ] + more + fixture.at)
  }

  private func list(_ name: String) throws -> String { try TrustListFixture.crlAddress + "=" + fixture.crl(name) }

  @Test func `Nothing is asked unless it is wanted`() async throws {
    for run in [await verify(), await verify("--revocation", "off")] {
      #expect(run.status == 0)
      #expect(try run.json()["result"]?["documents"]?.array?.first?["revocation"] == "not_run")
    }
  }

  @Test func `A list at hand that does not name the signer is good`() async throws {
    let run = await verify("--revocation", "require_good", "--list", try list("crl-empty"))
    #expect(run.status == 0)
    #expect(try run.json()["result"]?["documents"]?.array?.first?["revocation"] == "good")
    #expect(try run.json()["report"]?["revocation_policy"] == "require_good")
  }

  @Test func `A list at hand counts where fetching is allowed, too`() async throws {
    // The address leads nowhere: if it had been fetched, the status would be undetermined.
    let run = await verify("--revocation", "require_good", "--fetch", "--list", try list("crl-signer-revoked"))
    #expect(try run.json()["last_error"]?["code"] == "revocation.signer_revoked")
  }

  @Test(arguments: ["require_good", "allow_undetermined"])
  func `A signer on the list is rejected under every policy`(policy: String) async throws {
    let run = await verify("--revocation", policy, "--list", try list("crl-signer-revoked"))
    #expect(run.status == 1)
    #expect(try run.json()["last_error"]?["code"] == "revocation.signer_revoked")
  }

  @Test func `What no list says is undetermined: rejected, or a warning`() async throws {
    let required = await verify("--revocation", "require_good")
    #expect(required.status == 1)
    #expect(try required.json()["last_error"]?["code"] == "revocation.unavailable")
    let allowed = await verify("--revocation", "allow_undetermined")
    #expect(allowed.status == 0)
    #expect(try allowed.json()["result"]?["documents"]?.array?.first?["revocation"] == "undetermined")
    let other = await verify(
      "--revocation", "require_good", "--list", "https://other.example/a?b=c=" + (try fixture.crl("crl-empty")))
    #expect(try other.json()["last_error"]?["code"] == "revocation.unavailable")
  }

  @Test func `Apple's answers are asked about in the same way`() async throws {
    let nonce = String(repeating: "0f", count: 32)
    let session = ["--nonce", nonce, "--merchant-id", "merchant.example", "--team-id", "ABCDE12345"]
    #expect(await Run("keys", "generate", "--out", scratch("m.pem")).status == 0)
    let answer = ["mock", "apple", "--recipient", scratch("m.pem"), "--out", scratch("a.cbor")]
    #expect(await Run(answer + session + fixture.at).status == 0)
    let verify =
      [
        "verify", "apple", "--envelope", scratch("a.cbor"), "--key", scratch("m.pem"), "--trust",
        scratch("anchors/iaca.pem"), "--json", "--revocation", "require_good",
      ] + session + fixture.at
    #expect(await Run(verify + ["--list", try list("crl-empty")]).status == 0)
    let revoked = await Run(verify + ["--list", try list("crl-signer-revoked")])
    #expect(try revoked.json()["last_error"]?["code"] == "revocation.signer_revoked")
  }

  @Test func `Options that contradict each other or say nothing are usage errors`() async throws {
    let good = try list("crl-empty")
    for arguments in [
      ["--list", good], ["--fetch"], ["--revocation", "off", "--fetch"], ["--revocation", "soft"],
      ["--revocation", "require_good", "--list", "nothing"], ["--revocation", "require_good", "--list", "=file"],
      ["--revocation", "require_good", "--list", good, "--list", good],
    ] {
      let run = await Run(
        [
          "verify", "response", "--response", scratch("r.cbor"), "--transcript", scratch("t.cbor"), "--trust",
          scratch("anchors/iaca.pem"),
        ] + arguments)
      #expect(run.status == 64, "\(arguments)")
    }
    #expect(
      await verify("--revocation", "require_good", "--list", "https://a.example/=" + scratch("absent")).status == 65)
  }
}
