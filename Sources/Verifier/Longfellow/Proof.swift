/// The dimensions of a commitment (draft-google-cfrg-libzk, Ligero parameters).
struct LigeroShape: Sendable {
  let opened, block, width, doubleBlock, leaves, witnessRows, quadraticRows: Int

  init<F>(_ circuit: Circuit<F>, rate: Int, opened: Int, encoded: Int) {
    self.opened = opened
    block = (encoded + 1) / (2 + rate)
    width = block - opened
    doubleBlock = 2 * block - 1
    leaves = encoded - doubleBlock
    witnessRows = (circuit.privateInputs + circuit.padCount + width - 1) / width
    quadraticRows = (circuit.layers.count + width - 1) / width
  }

  /// Rows of witnesses and of quadratic constraints.
  var contentRows: Int { witnessRows + 3 * quadraticRows }
  var rows: Int { contentRows + 3 }
}

/// One circuit's part of a proof, in the order of its bytes.
struct CircuitProof<F: ProofField>: Sendable {
  /// The commitment.
  var root: [UInt8]
  /// The values of each layer. Each round has both hands' values at 0, then both hands' values at 2. The two wires
  /// follow the rounds.
  var sumcheck: [F]
  /// The responses to Ligero's three tests. The middle of the quadratic test's response is zero and is not sent.
  var lowDegree, dot, quadraticStart, quadraticEnd: [F]
  /// 32 bytes for each opened column.
  var nonces: [UInt8]
  /// The opened elements, row by row.
  var columns: [F]
  /// 32 bytes each.
  var digests: [UInt8]
}

/// A whole proof: the six tags and both circuits' parts, with all bounds checked.
package struct LongfellowProof {
  let tags: [FieldGF128]
  let hash: CircuitProof<FieldGF128>
  let signature: CircuitProof<FieldP256>

  init(_ bytes: [UInt8], pair: CircuitPair, hashShape: LigeroShape, signatureShape: LigeroShape)
    throws(LongfellowError)
  {
    var reader = ProofReader(bytes)
    tags = try reader.elements(6)
    hash = try reader.part(pair.hash, hashShape)
    signature = try reader.part(pair.signature, signatureShape)
    guard reader.isAtEnd else { throw .proofMalformed }
  }
}

/// Reads a proof's bytes, whose lengths follow from the circuits.
struct ProofReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  private mutating func take(_ count: Int) throws(LongfellowError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw .proofMalformed }
    defer { position += count }
    return bytes[position..<(position + count)]
  }

  private mutating func count() throws(LongfellowError) -> Int {
    try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func elements<F: ProofField>(_ count: Int, inSubfield: Bool = false) throws(LongfellowError) -> [F] {
    let size = inSubfield ? F.subfieldByteCount : F.byteCount
    let slice = try take(count * size)
    let elements: [F]? = slice.withUnsafeBufferPointer { slice in
      guard let start = slice.baseAddress else { return [] }
      var elements: [F] = []
      elements.reserveCapacity(count)
      for index in 0..<count {
        let bytes = start + index * size
        guard let element = inSubfield ? F(subfield: bytes) : F(bytes) else { return nil }
        elements.append(element)
      }
      return elements
    }
    guard let elements else { throw .proofMalformed }
    return elements
  }

  mutating func part<F>(_ circuit: Circuit<F>, _ shape: LigeroShape) throws(LongfellowError) -> CircuitProof<F> {
    CircuitProof(
      root: Array(try take(32)), sumcheck: try elements(circuit.sumcheckCount), lowDegree: try elements(shape.block),
      dot: try elements(shape.doubleBlock), quadraticStart: try elements(shape.opened),
      quadraticEnd: try elements(shape.doubleBlock - shape.block), nonces: Array(try take(32 * shape.opened)),
      columns: try runs(shape.rows * shape.opened), digests: try digests(shape))
  }

  /// Runs of elements, alternately of the whole field and of the subfield. A run may be empty, so two runs of the same
  /// kind can be adjacent. Two successive empty runs are refused.
  private mutating func runs<F: ProofField>(_ total: Int) throws(LongfellowError) -> [F] {
    guard total * F.subfieldByteCount <= bytes.count - position else { throw .proofMalformed }
    var columns: [F] = []
    columns.reserveCapacity(total)
    var (inSubfield, wasEmpty) = (false, false)
    while columns.count < total {
      let length = try count()
      guard length < 1 << 25, length <= total - columns.count, length > 0 || !wasEmpty else { throw .proofMalformed }
      if length > 0 { columns += try elements(length, inSubfield: inSubfield) as [F] }
      wasEmpty = length == 0
      inSubfield.toggle()
    }
    return columns
  }

  private mutating func digests(_ shape: LigeroShape) throws(LongfellowError) -> [UInt8] {
    let count = try count()
    guard count > 0, count <= shape.opened * (ceilingLog2(shape.leaves) + 1) else { throw .proofMalformed }
    return Array(try take(32 * count))
  }
}
