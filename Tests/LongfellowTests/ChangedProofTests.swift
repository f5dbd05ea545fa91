import TestSupport
import Testing

@testable import Longfellow

/// A good proof with one thing changed in its bytes (reference, 9.1; the numbers are its cases').
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct ChangedProofTests {
  private func verify(
    _ proof: [UInt8], version: Int = 6, fails error: LongfellowError, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let verifier = try PublishedCircuits.of(version)
    let statement = try PublishedProof.mustermann(version).statement
    #expect(throws: error, sourceLocation: location) { try verifier.verify(proof: proof, statement: statement) }
  }

  private func shapes(_ version: Int) throws -> (hash: LigeroShape, signature: LigeroShape) {
    let verifier = try PublishedCircuits.of(version)
    return (verifier.hash.shape, verifier.signature.shape)
  }

  /// Z01–Z09. All bytes before the columns' choice change it, and thus the Merkle tree's leaves.
  @Test(arguments: [6, 7], Place.allCases)
  func `a flipped bit is noticed by the Merkle tree`(version: Int, place: Place) throws {
    let proof = try PublishedProof.mustermann(version).proof
    let offset = place.offset(try Sections.of(version), sizes: try shapes(version))
    try verify(proof.flipped(at: offset), version: version, fails: .proofInvalid(.merkle))
  }

  @Test func `two digests exchanged are noticed`() throws {  // Z10
    var proof = try PublishedProof.mustermann(6).proof
    let first = try Sections.of(6).hash.merkle + 4
    for offset in first..<(first + 32) { proof.swapAt(offset, offset + 32) }
    try verify(proof, fails: .proofInvalid(.merkle))
  }

  /// Z11, Z12: the columns determine the number of digests, so a missing or extra digest makes the proof malformed.
  @Test func `a digest missing or too many is noticed`() throws {
    let proof = try PublishedProof.mustermann(6).proof
    let sections = try Sections.of(6)
    for part in [sections.hash, sections.sig] {
      let end = part.end
      let missing = proof.prefix(end - 32) + proof.dropFirst(end)
      try verify(Array(missing).adding(-1, at: part.merkle), fails: .proofInvalid(.merkle))
      let more = proof.prefix(end) + proof[(end - 32)..<end] + proof.dropFirst(end)
      try verify(Array(more).adding(1, at: part.merkle), fails: .proofInvalid(.merkle))
      // Only the count is changed, so the following bytes are misplaced.
      try verify(proof.adding(1, at: part.merkle), fails: .proofMalformed)
      try verify(proof.adding(-1, at: part.merkle), fails: .proofMalformed)
    }
  }

  /// Z13.
  @Test(arguments: [0, 1 << 25, UInt32.max])
  func `a count of digests out of bounds is malformed`(count: UInt32) throws {
    let proof = try PublishedProof.mustermann(6).proof
    let sections = try Sections.of(6)
    try verify(proof.setting(count, at: sections.hash.merkle), fails: .proofMalformed)
    try verify(proof.setting(count, at: sections.sig.merkle), fails: .proofMalformed)
  }

  /// Z14, Z15.
  @Test func `a proof that ends early is malformed`() throws {
    let proof = try PublishedProof.mustermann(6).proof
    let sections = try Sections.of(6)
    let starts = [sections.hash, sections.sig].flatMap { [$0.root, $0.sc, $0.lig, $0.nonce, $0.req, $0.merkle] }
    for length in [0, 1, 95, 96, proof.count / 2, proof.count - 1] + starts.flatMap({ [$0 - 1, $0, $0 + 1] }) {
      try verify(Array(proof.prefix(length)), fails: .proofMalformed)
    }
  }

  @Test func `bytes after a proof are malformed`() throws {  // Z16
    let proof = try PublishedProof.mustermann(6).proof
    try verify(proof + [0], fails: .proofMalformed)
    try verify(proof + proof, fails: .proofMalformed)
  }

  @Test func `numbers from p on are malformed`() throws {  // Z17
    let proof = try PublishedProof.mustermann(6).proof
    let sections = try Sections.of(6)
    // p is the prime's −1 and 1.
    let prime = (FieldP256.zero - .one).bytes.adding(1, at: 0)
    for number in [prime, [UInt8](repeating: 0xff, count: 32)] {
      for offset in [sections.sig.sc, sections.sig.lig, sections.sig.req + 8] {
        var changed = proof
        changed.replaceSubrange(offset..<(offset + 32), with: number)
        try verify(changed, fails: .proofMalformed)
      }
    }
  }

  /// Z18.
  @Test(arguments: [18_177, 1 << 25, UInt32.max])
  func `a run that is too long is malformed`(length: UInt32) throws {
    let proof = try PublishedProof.mustermann(6).proof
    let sections = try Sections.of(6)
    try verify(proof.setting(length, at: sections.hash.req), fails: .proofMalformed)
    try verify(proof.setting(length, at: sections.sig.req + 4), fails: .proofMalformed)
  }

  @Test func `empty runs cannot go on`() throws {  // Z19
    let proof = try PublishedProof.mustermann(6).proof
    let start = try Sections.of(6).hash.req
    for count in [2, 3, 1_000_000] {
      let empty = [UInt8](repeating: 0, count: 4 * count)
      try verify(proof.prefix(start) + empty + proof.dropFirst(start), fails: .proofMalformed)
    }
  }

  @Test func `zeros and noise are malformed`() throws {  // Z20
    let length = try PublishedProof.mustermann(6).proof.count
    try verify([UInt8](repeating: 0, count: length), fails: .proofMalformed)
    var random = SeededGenerator(seed: 1)
    for _ in 0..<10 { try verify(random.bytes(length), fails: .proofMalformed) }
  }

  @Test func `runs may be split, since their elements are the same`() throws {  // Z21
    let (statement, proof) = try PublishedProof.mustermann(6)
    // The second run, of elements of the subfield: half of it, an empty run of whole ones, the other half.
    let run = try Sections.of(6).hash.req + 4 + 384 * 16
    let half = run + 4 + 2 * 8512
    let split = proof.setting(8512, at: run)
    let changed = split.prefix(half) + [UInt8](repeating: 0, count: 4) + [0x40, 0x21, 0, 0] + split[half...]
    try PublishedCircuits.of(6).verify(proof: Array(changed), statement: statement)
  }

  @Test func `a proof of one version is malformed under the other`() throws {  // Z22
    try verify(try PublishedProof.mustermann(6).proof, version: 7, fails: .proofMalformed)
    try verify(try PublishedProof.mustermann(7).proof, version: 6, fails: .proofMalformed)
  }
}

/// Where the sections of the published proofs start.
struct Sections: Decodable {
  struct Part: Decodable { let root, sc, lig, nonce, req, merkle, end: Int }
  let hash, sig: Part

  private struct File: Decodable { let offsets: Sections }

  static func of(_ version: Int) throws -> Self {
    let file: File = try PublishedVectors.json("longfellow/derived/verify-v\(version)_1attr_issue_date.json")
    return file.offsets
  }
}

/// A byte of a proof whose lowest bit can be changed so that the proof stays well-formed.
enum Place: CaseIterable, Sendable {
  case firstTag, lastTag, hashRoot, hashSumcheck, hashLastWire, hashLowDegree, hashDot, hashQuadraticStart
  case hashQuadraticEnd, hashNonce, hashWholeElement, hashSubfieldElement, hashLastElement, hashDigest, hashLastDigest
  case signatureRoot, signatureSumcheck, signatureLowDegree, signatureDot, signatureQuadraticStart
  case signatureQuadraticEnd, signatureNonce, signatureElement, signatureDigest, signatureLastDigest

  func offset(_ sections: Sections, sizes: (hash: LigeroShape, signature: LigeroShape)) -> Int {
    let (hash, signature) = (sections.hash, sections.sig)
    func dot(_ part: Sections.Part, _ shape: LigeroShape, _ size: Int) -> Int { part.lig + shape.block * size }
    func quadratic(_ part: Sections.Part, _ shape: LigeroShape, _ size: Int) -> Int {
      dot(part, shape, size) + shape.doubleBlock * size
    }
    return switch self {
    case .firstTag: 0
    case .lastTag: 95
    case .hashRoot: hash.root
    case .hashSumcheck: hash.sc
    case .hashLastWire: hash.lig - 16
    case .hashLowDegree: hash.lig
    case .hashDot: dot(hash, sizes.hash, 16)
    case .hashQuadraticStart: quadratic(hash, sizes.hash, 16)
    case .hashQuadraticEnd: hash.nonce - 16
    case .hashNonce: hash.nonce
    case .hashWholeElement: hash.req + 4
    case .hashSubfieldElement: hash.req + 4 + 3 * sizes.hash.opened * 16 + 4
    case .hashLastElement: hash.merkle - 16
    case .hashDigest: hash.merkle + 4
    case .hashLastDigest: hash.end - 1
    case .signatureRoot: signature.root
    case .signatureSumcheck: signature.sc
    case .signatureLowDegree: signature.lig
    case .signatureDot: dot(signature, sizes.signature, 32)
    case .signatureQuadraticStart: quadratic(signature, sizes.signature, 32)
    case .signatureQuadraticEnd: signature.nonce - 32
    case .signatureNonce: signature.nonce
    case .signatureElement: signature.req + 8
    case .signatureDigest: signature.merkle + 4
    case .signatureLastDigest: signature.end - 1
    }
  }
}

extension [UInt8] {
  /// With another number in four bytes.
  func setting(_ number: UInt32, at offset: Int) -> Self {
    var changed = self
    for byte in 0..<4 { changed[offset + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
    return changed
  }

  /// With something added to the number in four bytes.
  func adding(_ difference: Int, at offset: Int) -> Self {
    let number = self[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
    return setting(UInt32(truncatingIfNeeded: number + difference), at: offset)
  }
}
