import CBOR
import Longfellow
import TestSupport
import Testing

@testable import LongfellowProver

/// Whole proofs, which the verifier accepts. One at a time, since each pair of circuits is large.
@Suite(.serialized, .enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct ProofTests {
  private static let shown = ["issue_date", "family_name", "age_over_18", "height"]

  @Test(arguments: [(6, 1), (6, 2), (6, 3), (6, 4), (7, 2), (7, 3), (7, 4)])
  func `a published document is proven`(version: Int, elements: Int) throws {
    let published = try PublishedDocument()
    let pair = try publishedCircuits(version: version, elements: elements)
    let request = try published.request(Array(Self.shown.prefix(elements)))
    let proof = try LongfellowProver(pair).prove(published.document, request).bytes
    try LongfellowVerifier(pair).verify(proof: proof, statement: published.statement(request))
  }

  /// One pair for all following tests.
  private static let pair = Result { try publishedCircuits(version: 7, elements: 1) }

  @Test func `a proof proves what it is made for and nothing else`() throws {
    let published = try PublishedDocument()
    let (prover, verifier) = (LongfellowProver(try Self.pair.get()), LongfellowVerifier(try Self.pair.get()))
    let request = try published.request(["age_over_18"])
    var random = seeded()
    let proof = try prover.prove(published.document, request, random: &random).bytes
    try verifier.verify(proof: proof, statement: published.statement(request))
    func rejected(_ elements: [(identifier: String, value: [UInt8])], _ transcript: [UInt8], _ timestamp: String) {
      let statement = published.statement(
        ProverRequest(elements: elements, transcript: transcript, timestamp: timestamp))
      #expect(throws: LongfellowError.self) { try verifier.verify(proof: proof, statement: statement) }
    }
    rejected([("age_over_18", [0xf4])], request.transcript, request.timestamp)
    rejected([("age_over_21", [0xf5])], request.transcript, request.timestamp)
    rejected(request.elements, request.transcript + [0], request.timestamp)
    rejected(request.elements, request.transcript, "2024-10-01T09:00:01Z")
  }

  @Test func `a proof is the same for the same seed, and another for another`() throws {
    let published = try PublishedDocument()
    let prover = LongfellowProver(try Self.pair.get())
    let request = try published.request(["family_name"])
    let proofs = try [UInt8(1), 1, 2].map { seed in
      var random = seeded(seed)
      return try prover.prove(published.document, request, random: &random).bytes
    }
    #expect(proofs[0] == proofs[1])
    #expect(proofs[0].prefix(96) != proofs[2].prefix(96))
  }

  @Test func `a witness with a changed bit does not satisfy the circuits`() throws {
    let published = try PublishedDocument()
    let pair = try Self.pair.get()
    let keys = [FieldGF128](repeating: .point(9), count: 6)
    var witness = try MdocWitness(
      published.document, published.request(["family_name"]), for: pair.known, keys: keys)
    _ = witness.setTags(keys: keys, verifierKey: .point(5))
    let (hash, signature) = (witness.hash.inputs.values, witness.signature.inputs.values)
    _ = try Evaluation(pair.hash, inputs: hash)
    _ = try Evaluation(pair.signature, inputs: signature)
    for wire in [1, 300, 945, 960, 3000] {
      var changed = hash
      changed[wire] = changed[wire] + .one
      #expect(throws: ProverError.circuitNotSatisfied) { _ = try Evaluation(pair.hash, inputs: changed) }
    }
    for wire in [1, 3, 4, 900, 905, 2000, 3738] {
      var changed = signature
      changed[wire] = changed[wire] + .one
      #expect(throws: ProverError.circuitNotSatisfied) { _ = try Evaluation(pair.signature, inputs: changed) }
    }
  }

  /// Documents at the bounds of what version 7 can prove: the longest MSO, the shortest and the longest item, members
  /// in another order.
  @Test(arguments: 0..<4)
  func `a document at the bounds is proven`(_ number: Int) throws {
    var document = TestDocument()
    switch number {
    case 0: document.securityObjectLength = 2526
    case 1:
      document.elements = [("a", .bool(true))]
      document.randomLength = 0
    case 2: document.randomLength = 41
    default: document.memberOrder = ["elementValue", "elementIdentifier", "random", "digestID"]
    }
    let made = try document.make()
    let proof = try LongfellowProver(try Self.pair.get()).prove(made.document, made.request).bytes
    try LongfellowVerifier(try Self.pair.get()).verify(proof: proof, statement: made.statement)
  }
}
