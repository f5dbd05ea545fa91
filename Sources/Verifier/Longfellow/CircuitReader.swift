import Base
import CCarryless
import Cryptography

/// A pair of circuits with the parameters of its proofs.
package struct CircuitPair: Sendable {
  package let known: KnownCircuit
  package let signature: Circuit<FieldP256>
  package let hash: Circuit<FieldGF128>

  /// A frame with the size of its content in four bytes, no checksum and a window of 4 MiB.
  private static let frameStart: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x60]

  /// True if the bytes begin like a circuit's file.
  package static func isCandidate(_ compressed: [UInt8]) -> Bool { compressed.starts(with: frameStart) }

  /// Unpacks and checks this circuit's file. The recomputed identifiers must match the circuit's.
  package init(compressed: [UInt8], known: KnownCircuit) throws(LongfellowError) {
    try self.init(compressed: compressed)
    guard self.known == known else { throw .circuitUnknown }
  }

  /// Unpacks and checks the file of any known circuit. The recomputed identifiers determine the circuit.
  package init(compressed: [UInt8]) throws(LongfellowError) {
    guard Self.isCandidate(compressed) else { throw .circuitMalformed }
    var reader = CircuitReader(try FrameReader(compressed))
    signature = try reader.circuit()
    hash = try reader.circuit()
    guard reader.isAtEnd else { throw .circuitMalformed }
    let digest = Hex.encode(HashAlgorithm.sha256.hash(signature.identifier + hash.identifier))
    guard let known = KnownCircuit.all.first(where: { $0.hash == digest }) else { throw .circuitUnknown }
    self.known = known
  }
}

/// Reads circuits of format 1: numbers of three bytes, terms as differences. Only one encoding of a circuit is
/// accepted.
struct CircuitReader: ~Copyable {
  private var frame: FrameReader
  /// Bytes of a term: the differences of its output and of its two inputs, and the constant's index.
  private static var termSize: Int { 12 }

  init(_ frame: consuming FrameReader) { self.frame = frame }

  var isAtEnd: Bool { frame.isAtEnd }

  private mutating func number() throws(LongfellowError) -> Int { Self.number(try frame.take(3)) }

  private static func number(_ bytes: UnsafePointer<UInt8>) -> Int {
    Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
  }

  mutating func circuit<F: ProofField>() throws(LongfellowError) -> Circuit<F> {
    guard try frame.take(1).pointee == 1, try number() == F.identifier else { throw .circuitMalformed }
    let (outputs, copies, publicInputs) = (try number(), try number(), try number())
    let (boundary, inputs, layerCount) = (try number(), try number(), try number())
    let constants: [F] = try constants()
    guard copies == 1, (1...CircuitLayer.mostWires).contains(outputs), publicInputs >= 1, publicInputs <= inputs,
      boundary <= inputs, (1...10_000).contains(layerCount)
    else { throw .circuitMalformed }
    let identity = CircuitIdentity(constants)
    identity.absorb(F.identifierPrefix)
    for value in [outputs, ceilingLog2(outputs), 1, 0, layerCount, inputs, publicInputs, boundary] {
      identity.absorb(value)
    }
    var layers: [CircuitLayer] = []
    var wires = outputs
    for _ in 0..<layerCount {
      let layer = try layer(outputs: wires, constants: constants.count, identity: identity)
      layers.append(layer)
      wires = layer.wires
    }
    let end = try frame.take(32)
    let identifier = identity.digest()
    guard wires == inputs, identifier.elementsEqual(UnsafeBufferPointer(start: end, count: 32)) else {
      throw .circuitMalformed
    }
    return Circuit(
      identifier: identifier, outputs: outputs, publicInputs: publicInputs, inputs: inputs, constants: constants,
      layers: layers)
  }

  private mutating func constants<F: ProofField>() throws(LongfellowError) -> [F] {
    let count = try number()
    guard count <= CircuitLayer.mostConstants, count * F.byteCount <= frame.remaining else { throw .circuitMalformed }
    var constants: [F] = []
    for _ in 0..<count {
      guard let constant = F(try frame.take(F.byteCount)) else { throw .circuitMalformed }
      constants.append(constant)
    }
    guard Set(constants.map(\.bytes)).count == count else { throw .circuitMalformed }
    return constants
  }

  private mutating func layer(
    outputs: Int, constants: Int, identity: CircuitIdentity
  ) throws(LongfellowError) -> CircuitLayer {
    let (logWires, wires, count) = (try number(), try number(), try number())
    guard logWires >= 1, wires <= CircuitLayer.mostWires, ceilingLog2(wires) == logWires,
      count * Self.termSize <= frame.remaining
    else { throw .circuitMalformed }
    for value in [wires, logWires, count] { identity.absorb(value) }
    var terms = LayerTerms(outputs: outputs, wires: wires, constants: constants, count: count)
    var left = count
    while left > 0 {
      let piece = min(left, FrameReader.pieceCapacity / Self.termSize)
      let bytes = try frame.take(piece * Self.termSize)
      for term in 0..<piece {
        let term = bytes + term * Self.termSize
        try terms.append(
          (Self.number(term), Self.number(term + 3), Self.number(term + 6)), constant: Self.number(term + 9),
          identity: identity)
      }
      left -= piece
    }
    return terms.layer(logWires: logWires)
  }
}

/// Adds up a layer's terms from their differences.
private struct LayerTerms {
  private let outputs, wires, constants: Int
  private var (output, left, right) = (0, 0, 0)
  private var groups: [carryless_group] = []
  private var entries: [carryless_entry] = []

  init(outputs: Int, wires: Int, constants: Int, count: Int) {
    (self.outputs, self.wires, self.constants) = (outputs, wires, constants)
    // The system provides memory only when it is first written.
    groups.reserveCapacity(count)
    entries.reserveCapacity(count)
  }

  /// A difference has its sign in the lowest bit. A negative zero is refused.
  private static func add(_ difference: Int, to value: inout Int) -> Bool {
    value += difference & 1 == 1 ? -(difference >> 1) : difference >> 1
    return difference != 1
  }

  mutating func append(
    _ differences: (output: Int, left: Int, right: Int), constant: Int, identity: CircuitIdentity
  ) throws(LongfellowError) {
    let (lastLeft, lastRight) = (left, right)
    guard Self.add(differences.output, to: &output), Self.add(differences.left, to: &left),
      Self.add(differences.right, to: &right), (0..<outputs).contains(output), (0..<wires).contains(left),
      (0..<wires).contains(right), constant < constants
    else { throw .circuitMalformed }
    identity.absorb(output: output, left: left, right: right, constant: constant)
    entries.append(carryless_entry(output: UInt32(output), constant: UInt32(constant)))
    if groups.isEmpty || left != lastLeft || right != lastRight {
      groups.append(carryless_group(left: UInt64(left), right: UInt64(right), end: 0))
    }
    groups[groups.count - 1].end = UInt64(entries.count)
  }

  func layer(logWires: Int) -> CircuitLayer {
    CircuitLayer(logWires: logWires, wires: wires, groups: groups, entries: entries)
  }
}

/// The SHA-256 over a circuit's numbers and terms, which identifies the circuit (draft-google-cfrg-libzk, Circuit
/// identifiers). Numbers have eight bytes each, some hundred megabytes in total, and are hashed through a buffer.
final class CircuitIdentity {
  private let hash = RunningHash()
  private let constants: [[UInt8]]
  private let buffer: UnsafeMutablePointer<UInt8>
  private var filled = 0
  private static var capacity: Int { 1 << 16 }
  /// Three numbers and the longest constant.
  private static var termSize: Int { 3 * 8 + 32 }

  init<F: ProofField>(_ constants: [F]) {
    self.constants = constants.map(\.bytes)
    buffer = .allocate(capacity: Self.capacity)
  }

  deinit { buffer.deallocate() }

  private func flush() {
    hash.absorb(UnsafeRawBufferPointer(start: buffer, count: filled))
    filled = 0
  }

  private func put(_ value: Int) {
    UnsafeMutableRawPointer(buffer + filled).storeBytes(of: UInt64(value).littleEndian, as: UInt64.self)
    filled += 8
  }

  func absorb(_ value: Int) {
    if filled + 8 > Self.capacity { flush() }
    put(value)
  }

  func absorb(_ bytes: [UInt8]) {
    flush()
    hash.absorb(bytes)
  }

  func absorb(output: Int, left: Int, right: Int, constant: Int) {
    if filled + Self.termSize > Self.capacity { flush() }
    put(output)
    put(left)
    put(right)
    constants[constant].withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return }
      (buffer + filled).update(from: start, count: bytes.count)
      filled += bytes.count
    }
  }

  func digest() -> [UInt8] {
    flush()
    return hash.digest()
  }
}
