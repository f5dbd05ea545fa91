import Base
import Testing

@testable import MdocTool

/// `mdoc trust explain`: where a signer's certificates lead, and why not elsewhere.
@Suite struct TrustExplainTests {
  private let fixture: TrustListFixture
  private var scratch: Scratch { fixture.scratch }

  init() throws { fixture = try TrustListFixture() }

  private func explain(_ more: [String], trust: String = "anchors") async throws -> (Run, JSON) {
    let run = await Run(["trust", "explain", "--trust", scratch(trust), "--json"] + more + fixture.at)
    return (run, try #require(try run.json()["chains"]?.array?.first))
  }

  /// The names of the obstacles, by the name of the anchor's file.
  private func reasons(_ chain: JSON) -> [String: [String]] {
    var reasons: [String: [String]] = [:]
    for anchor in chain["anchors"]?.array ?? [] {
      let name = anchor["source"]?.string?.split(separator: "/").last.map(String.init) ?? ""
      reasons[name] = anchor["reasons"]?.array?.compactMap { $0["name"]?.string }
    }
    return reasons
  }

  @Test func `A good document leads to its anchor, and to none of the others`() async throws {
    await fixture.makeAnswer()
    let (run, chain) = try await explain(["--response", scratch("r.cbor")])
    #expect(run.status == 0)
    #expect(try run.json()["verified"] == false)
    #expect(chain["trusted"] == true && chain["doc_type"] == "org.iso.18013.5.1.mDL")
    #expect(chain["anchors"]?.array?.first?["chosen"] == true)
    let reasons = reasons(chain)
    #expect(reasons["iaca.pem"] == [])
    #expect(reasons["iaca-expired.pem"] == ["name_differs", "key_identifier_differs"])
    #expect(reasons.count == 8)
  }

  @Test func `It says of each answer that nothing is verified, even of a forged one`() async throws {
    await fixture.makeAnswer("element-changed")
    let run = await Run(
      ["trust", "explain", "--trust", scratch("anchors"), "--response", scratch("r.cbor")] + fixture.at)
    #expect(run.status == 0)
    #expect(run.output.contains("NO PART OF A DOCUMENT IS VERIFIED HERE"))
    #expect(!run.output.contains("VERIFIED\n") && !run.output.contains("Ada"))
  }

  @Test(arguments: [
    ("iaca-expired", "anchor-expired", "trust.anchor_expired"),
    ("iaca-not-yet-valid", "anchor-not-yet-valid", "trust.anchor_expired"),
    ("iaca-not-ca", "anchor-not-ca", "trust.anchor_not_ca"),
  ])
  func `An anchor that fits and can't be used says why`(anchor: String, variant: String, code: String) async throws {
    await fixture.makeAnswer(variant)
    let (run, chain) = try await explain(["--response", scratch("r.cbor")])
    #expect(run.status == 1)
    #expect(chain["trusted"] == false)
    #expect(reasons(chain)[anchor + ".pem"] == [code])
    #expect(chain.codes("failed") == [code])
  }

  @Test(arguments: [
    ("signer-issuer-name", ["name_differs"]), ("signer-aki", ["key_identifier_differs"]),
    ("anchor-look-alike", ["signature_does_not_verify"]),
    ("signer-signature", ["trust.certificate.signature_invalid"]), ("signer-expired", ["trust.certificate.expired"]),
    ("intermediate", ["trust.path_length_exceeded"]), ("signer-self-signed", ["own_root"]),
  ])
  func `What is between a signer and the good anchor is named`(variant: String, names: [String]) async throws {
    await fixture.makeAnswer(variant)
    let (run, chain) = try await explain(["--response", scratch("r.cbor")])
    #expect(run.status == 1)
    #expect(reasons(chain)["iaca.pem"] == names)
  }

  @Test func `Another document type is in the way of the very anchor`() async throws {
    await fixture.makeAnswer()
    let (run, chain) = try await explain(["--response", scratch("r.cbor"), "--doc-type", "org.example"])
    #expect(run.status == 1)
    #expect(reasons(chain)["iaca.pem"] == ["trust.not_for_doc_type"])
    let text = await Run(
      ["trust", "explain", "--trust", scratch("anchors"), "--response", scratch("r.cbor"), "--doc-type", "org.example"]
        + fixture.at)
    #expect(text.output.contains("NOT ACCEPTED"))
  }

  @Test func `An issuer that nobody knows leads to no anchor`() async throws {
    await fixture.makeAnswer()
    let (run, chain) = try await explain(
      ["--response", scratch("r.cbor")], trust: "anchors/iaca-other-doc-type.pem")
    #expect(run.status == 1 && chain["anchor"] == .null)
    #expect(chain.codes("failed") == ["trust.issuer_unknown"])
    let text = await Run(
      [
        "trust", "explain", "--trust", scratch("anchors/iaca-expired.pem"), "--response", scratch("r.cbor"),
      ] + fixture.at)
    #expect(text.output.contains("NO ANCHOR"))
  }

  @Test func `A chain from a file, a root by itself and one of another's`() async throws {
    await fixture.makeAnswer()
    let (run, chain) = try await explain(["--chain", scratch("vical-root.pem")])
    #expect(run.status == 1)
    #expect(reasons(chain)["iaca.pem"] == ["own_root"])
  }

  @Test func `Exactly one of response and chain is given, and it can be read`() async throws {
    await fixture.makeAnswer()
    let trust = ["trust", "explain", "--trust", scratch("anchors")]
    #expect(await Run(trust).status == 64)
    #expect(await Run(trust + ["--chain", scratch("vical-root.pem"), "--response", scratch("r.cbor")]).status == 64)
    #expect(await Run(trust + ["--response", scratch("t.cbor")]).status == 65)
    #expect(await Run(trust + ["--response", scratch("absent")]).status == 65)
    #expect(await Run(trust + ["--chain", scratch("r.cbor")]).status == 65)
  }
}
