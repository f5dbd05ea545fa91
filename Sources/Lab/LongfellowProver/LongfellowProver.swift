import Cryptography
import Longfellow

/// Proves mdocs with longfellow-libzk-v1 and one pair of circuits.
package struct LongfellowProver: Sendable {
  private let pair: CircuitPair
  private let hash: PartProver<FieldGF128>
  private let signature: PartProver<FieldP256>

  /// - Parameter pair: made ready once, for many proofs.
  package init(_ pair: CircuitPair) {
    self.pair = pair
    hash = PartProver(pair.hash, pair.known, columns: pair.known.hashBlock)
    signature = PartProver(pair.signature, pair.known, columns: pair.known.signatureBlock)
  }

  /// A proof, and where its sections start.
  package struct Proof: Sendable {
    /// Six tags, the part of the circuit of hashes, the part of the circuit of signatures.
    package let bytes: [UInt8]
    package let hash: ProofSections
    package let signature: ProofSections
  }

  /// Proves with the operating system's randomness.
  package func prove(_ document: ProvableDocument, _ request: ProverRequest) throws(ProverRefusal) -> Proof {
    guard var random = try? ProverRandomness() else { throw .noRandomness }
    return try prove(document, request, random: &random)
  }

  /// - Parameter random: of a secret seed, which is never used again.
  package func prove(
    _ document: ProvableDocument, _ request: ProverRequest, random: inout ProverRandomness
  ) throws(ProverRefusal) -> Proof {
    var keys: [FieldGF128] = []
    for _ in 0..<6 { keys.append(.random(&random)) }
    var witness = try MdocWitness(document, request, for: pair.known, keys: keys)
    var transcript = Transcript(session: request.transcript)
    let hashed = hash.commit(witness.hash.inputs.values, &random)
    let signed = signature.commit(witness.signature.inputs.values, &random)
    transcript.write(bytes: hashed.tree.root)
    transcript.write(bytes: signed.tree.root)
    let tags = witness.setTags(keys: keys, verifierKey: transcript.element())
    var writer = ProofWriter()
    writer.write(elements: tags)
    let hash = try hash.prove(witness.hash.inputs.values, hashed, &transcript, &writer)
    let signature = try signature.prove(witness.signature.inputs.values, signed, &transcript, &writer)
    return Proof(bytes: writer.bytes, hash: hash, signature: signature)
  }
}
