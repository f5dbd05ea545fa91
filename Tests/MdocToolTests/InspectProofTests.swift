import Base
import CBOR
import Longfellow
import Mock
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc inspect` of a response with zero-knowledge proofs.
@Suite struct InspectProofTests {
  private let scratch: Scratch
  private static let circuit = KnownCircuit.all[1]

  init() throws { scratch = try Scratch() }

  private func response(label: String = circuit.label, more: [CBORValue] = []) throws -> CBORValue {
    let authority = try MockAuthority(seed: Array("inspect".utf8))
    let anchor = try authority.anchor(at: Timestamp(secondsSince1970: 1_795_000_000)).certificate
    let data: CBORValue = [
      "docType": "org.iso.18013.5.1.mDL", "zkSystemId": .text(label),
      "timestamp": .tagged(0, "2026-11-18T20:26:40Z"),
      "issuerSigned": [
        "org.iso.18013.5.1": [
          ["elementIdentifier": "family_name", "elementValue": "Morgan"],
          ["elementIdentifier": "age_over_18", "elementValue": true],
        ]
      ],
      "deviceSigned": [:], "msoX5chain": .bytes(anchor),
    ]
    let proof: CBORValue = ["documentData": .embedded(data), "proof": .bytes([UInt8](repeating: 7, count: 1_234))]
    return ["version": "1.0", "zkDocuments": .array([proof] + more), "status": 0]
  }

  @Test func `a proof is summarised with names and without values`() async throws {
    let file = try scratch.write("r", response().encoded())
    let run = await Run("inspect", file)
    #expect(run.status == 0)
    for line in [
      "Document type   org.iso.18013.5.1.mDL", "Circuit         version 7, 2 elements",
      "Time            2026-11-18T20:26:40Z", "Elements        org.iso.18013.5.1: family_name, age_over_18",
      "Proof           1234 bytes", "Subject  mdoc Mock IACA",
    ] { #expect(run.output.contains("  \(line)\n"), "\(line)\n\(run.output)") }
    #expect(run.output.contains(Self.circuit.label) && !run.output.contains("Morgan"))
    let json = try await Run("inspect", file, "--json").json()
    #expect(!json.text().contains("Morgan"))
    let proof = try #require(json["proofs"]?.array?.first)
    #expect(proof["doc_type"] == "org.iso.18013.5.1.mDL" && proof["timestamp"] == "2026-11-18T20:26:40Z")
    #expect(proof["zk_system_id"] == .string(Self.circuit.label))
    #expect(proof["circuit"] == ["version": 7, "elements": 2])
    #expect(
      proof["namespaces"] == [["namespace": "org.iso.18013.5.1", "elements": ["family_name", "age_over_18"]]])
    #expect(proof["proof_bytes"] == 1_234 && proof["error"] == .null)
    #expect(proof["chain"]?.array == json["certificates"]?.array?.compactMap { $0["sha256"] })
    #expect(await Run("inspect", file, "--show-values").output.contains("Morgan"))
  }

  @Test func `a hash names its circuit, and another label none`() async throws {
    func circuit(_ label: String) async throws -> JSON? {
      let file = try scratch.write("r", response(label: label).encoded())
      return try await Run("inspect", file, "--json").json()["proofs"]?.array?.first?["circuit"]
    }
    #expect(try await circuit(Self.circuit.hash) == ["version": 7, "elements": 2])
    #expect(try await circuit("longfellow-libzk-v1_5_1") == .null)
    let file = try scratch.write("r", response(label: "x\u{1b}[31m").encoded())
    let text = await Run("inspect", file).output
    #expect(text.contains("unknown") && !text.contains("\u{1b}"))
  }

  @Test func `a malformed proof is named as such, beside a good one`() async throws {
    let malformed: CBORValue = ["documentData": .bytes([0]), "proof": .bytes([0])]
    let file = try scratch.write("r", response(more: [malformed, 7]).encoded())
    let run = await Run("inspect", file)
    #expect(run.status == 0)
    #expect(run.output.components(separatedBy: "  Malformed  zk.document_malformed: ").count == 3, "\(run.output)")
    #expect(run.output.contains("1234 bytes"))
    let proofs = try #require(try await Run("inspect", file, "--json").json()["proofs"]?.array)
    #expect(proofs.map { $0["error"]?["code"] } == [nil, "zk.document_malformed", "zk.document_malformed"])
    #expect(proofs[1]["error"]?["detail"]?.string?.hasPrefix("documentData") == true)
  }

  @Test func `what has no proofs lists none`() async throws {
    let file = try scratch.write("r", [0xa0])
    #expect(try await Run("inspect", file, "--json").json()["proofs"] == [])
    #expect(await Run("inspect", file).output == "{}\n")
  }

  /// The parts of a response of Google Wallet, put together.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `a wallet's proof is read`() async throws {
    let run = await Run("inspect", PublishedVectors.folder + "/longfellow/google-post1/response.cbor", "--json")
    let proof = try #require(try run.json()["proofs"]?.array?.first)
    #expect(proof["circuit"] == ["version": 6, "elements": 1] && proof["error"] == .null)
    #expect(proof["namespaces"]?.array?.first?["elements"] == ["age_over_18"])
  }
}
