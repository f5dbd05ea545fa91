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

  /// Proves with the operating system's randomness.
  package func prove(_ document: ProvableDocument, _ request: ProofRequest) throws(ProverRefusal) -> [UInt8] {
    guard var random = try? ProverRandomness() else { throw .noRandomness }
    return try prove(document, request, random: &random)
  }

  /// - Parameter random: of a secret seed, which is never used again.
  package func prove(
    _ document: ProvableDocument, _ request: ProofRequest, random: inout ProverRandomness
  ) throws(ProverRefusal) -> [UInt8] {
    var keys: [FieldGF128] = []
    for _ in 0..<6 { keys.append(.random(&random)) }
    var witness = try MdocWitness(document, request, pair: pair, keys: keys)
    var transcript = Transcript(session: request.transcript)
    let hashed = hash.commit(witness.hash.inputs.values, &random)
    let signed = signature.commit(witness.signature.inputs.values, &random)
    transcript.write(bytes: hashed.tree.root)
    transcript.write(bytes: signed.tree.root)
    let tags = witness.setTags(keys: keys, verifierKey: transcript.element())
    var writer = ProofWriter()
    writer.write(elements: tags)
    try hash.prove(witness.hash.inputs.values, hashed, &transcript, &writer)
    try signature.prove(witness.signature.inputs.values, signed, &transcript, &writer)
    return writer.bytes
  }
}

/// Both circuits' inputs for one document.
struct MdocWitness {
  private(set) var hash: HashWitness
  private(set) var signature: SignatureWitness
  /// The numbers that the tags bind.
  private let shared: [[UInt8]]

  init(
    _ document: ProvableDocument, _ request: ProofRequest, pair: CircuitPair, keys: [FieldGF128]
  ) throws(ProverRefusal) {
    let version = pair.known.version
    guard request.elements.count == pair.known.elements else { throw .elementCount }
    guard Self.isTimestamp(request.timestamp) else { throw .timestampMalformed }
    guard document.documentType.utf8.count <= 255 else { throw .documentTypeTooLong }
    let issuer = try IssuerFacts(document.issuerAuth, timestamp: request.timestamp)
    var elements: [ElementFacts] = []
    for element in request.elements {
      elements.append(try ElementFacts(element, of: document, issuer: issuer, version: version))
    }
    shared = SignatureWitness.sharedNumbers(issuer)
    hash = try HashWitness(
      request, issuer: issuer, elements: elements, version: version, publicInputs: pair.hash.publicInputs, keys: keys)
    signature = try SignatureWitness(document, request, issuer: issuer, keys: keys)
  }

  /// The form `0000-00-00T00:00:00Z`; whether the day exists does not matter to a comparison.
  private static func isTimestamp(_ text: String) -> Bool {
    let form = Array("0000-00-00T00:00:00Z".utf8)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return text.utf8.count == form.count
      && zip(text.utf8, form).allSatisfy { $1 == UInt8(ascii: "0") ? digits.contains($0) : $0 == $1 }
  }

  /// Puts in the tags of each number's halves, the low one first: (verifier's key + prover's key)·half.
  mutating func setTags(keys: [FieldGF128], verifierKey: FieldGF128) -> [FieldGF128] {
    let halves = shared.flatMap { number in
      let bytes = Array(number.reversed())
      return [Array(bytes.prefix(16)), Array(bytes.suffix(16))].compactMap { half in
        half.withUnsafeBufferPointer { $0.baseAddress.map { FieldGF128($0) } }
      }
    }
    let tags = zip(keys, halves).map { ($0 + verifierKey) * $1 }
    hash.set(tags: tags + [verifierKey])
    signature.set(tags: tags + [verifierKey])
    return tags
  }
}
