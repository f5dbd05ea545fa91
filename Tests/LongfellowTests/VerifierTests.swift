import TestSupport
import Testing

@testable import Longfellow

/// A published proof of Google Wallet's, whole and changed. One circuit pair, since each costs a second.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct VerifierTests {
  private struct Facts: Decodable {
    struct Element: Decodable {
      let identifier: String
      let valueCBOR: HexBytes
    }
    let docType, timestamp, circuit: String
    let elements: [Element]
    let issuerPublicKeyX, issuerPublicKeyY: HexBytes
  }

  private static let verifier = Result {
    let known = try #require(KnownCircuit.all.first { $0.version == 6 && $0.elements == 1 })
    let file = try PublishedVectors.bytes("longfellow/circuits/6_1_\(known.hash)")
    return LongfellowVerifier(try CircuitPair(compressed: file, known: known))
  }

  private func statement(timestamp: String? = nil) throws -> LongfellowStatement {
    let facts: Facts = try PublishedVectors.json("longfellow/google-post1/facts.json")
    return LongfellowStatement(
      issuerX: facts.issuerPublicKeyX.bytes, issuerY: facts.issuerPublicKeyY.bytes, documentType: facts.docType,
      transcript: try PublishedVectors.bytes("longfellow/google-post1/transcript.cbor"),
      elements: facts.elements.map { (identifier: $0.identifier, value: $0.valueCBOR.bytes) },
      timestamp: timestamp ?? facts.timestamp)
  }

  private func proof() throws -> [UInt8] { try PublishedVectors.bytes("longfellow/google-post1/proof.bin") }

  @Test func `a wallet's proof is valid`() throws {
    try Self.verifier.get().verify(proof: try proof(), statement: try statement())
  }

  @Test func `the proof of another moment is wrong`() throws {
    let verifier = try Self.verifier.get()
    #expect(throws: LongfellowError.self) {
      try verifier.verify(proof: proof(), statement: statement(timestamp: "2025-12-01T23:59:58Z"))
    }
  }

  /// Z01–Z09: tags, roots, sumcheck, answers, columns, digests.
  @Test(arguments: [0, 96, 128, 16_928, 40_000, 62_592, 66_700, 90_000, 119_200])
  func `a changed bit is noticed`(at offset: Int) throws {
    var proof = try proof()
    proof[offset] ^= 1
    let (verifier, statement, changed) = (try Self.verifier.get(), try statement(), proof)
    #expect(throws: LongfellowError.self) { try verifier.verify(proof: changed, statement: statement) }
  }

  /// Z14–Z16: what is cut or longer.
  @Test func `a proof that is not whole is malformed`() throws {
    let (verifier, statement, proof) = (try Self.verifier.get(), try statement(), try proof())
    for length in [0, 95, 96, 128, proof.count / 2, proof.count - 1] {
      #expect(throws: LongfellowError.proofMalformed) {
        try verifier.verify(proof: Array(proof.prefix(length)), statement: statement)
      }
    }
    #expect(throws: LongfellowError.proofMalformed) { try verifier.verify(proof: proof + [0], statement: statement) }
  }
}
