import CCarryless
import CZstd
import Cryptography

/// A pair of circuits with the parameters of its proofs.
package struct CircuitPair: Sendable {
  package let known: KnownCircuit
  package let signature: Circuit<FieldP256>
  package let hash: Circuit<FieldGF128>

  /// Unpacks and checks a circuit file, whose recomputed identifiers must be those of the known circuit.
  package init(compressed: [UInt8], known: KnownCircuit) throws(LongfellowError) {
    let content = try Self.unpack(compressed)
    var reader = CircuitReader(content)
    signature = try reader.circuit()
    hash = try reader.circuit()
    guard reader.isAtEnd else { throw .circuitMalformed }
    let digest = HashAlgorithm.sha256.hash(signature.identifier + hash.identifier)
    guard digest.map({ ($0 < 16 ? "0" : "") + String($0, radix: 16) }).joined() == known.hash else {
      throw .circuitUnknown
    }
    self.known = known
  }

  private static func unpack(_ compressed: [UInt8]) throws(LongfellowError) -> [UInt8] {
    let size = ZSTD_getFrameContentSize(compressed, compressed.count)
    // Unknown sizes and errors are the largest numbers.
    guard size <= 130_000_000, ZSTD_findFrameCompressedSize(compressed, compressed.count) == compressed.count else {
      throw .circuitMalformed
    }
    let content = [UInt8](unsafeUninitializedCapacity: Int(size)) { output, count in
      let length = ZSTD_decompress(output.baseAddress, output.count, compressed, compressed.count)
      count = length == Int(size) ? length : 0
    }
    guard content.count == Int(size) else { throw .circuitMalformed }
    return content
  }
}

/// Reads circuits of format 1: numbers of three bytes, terms as differences.
struct CircuitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  private mutating func take(_ count: Int) throws(LongfellowError) -> Int {
    guard count <= bytes.count - position else { throw .circuitMalformed }
    defer { position += count }
    return position
  }

  private mutating func number() throws(LongfellowError) -> Int {
    let start = try take(3)
    return Int(bytes[start]) | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]) << 16
  }

  mutating func circuit<F: ProofField>() throws(LongfellowError) -> Circuit<F> {
    guard bytes[try take(1)] == 1, try number() == F.identifier else { throw .circuitMalformed }
    let outputs = try number()
    let copies = try number()
    let publicInputs = try number()
    let boundary = try number()
    let inputs = try number()
    let layerCount = try number()
    let constantCount = try number()
    guard copies == 1, outputs > 0, publicInputs >= 1, publicInputs <= inputs, (1...10_000).contains(layerCount),
      constantCount <= 65_535
    else { throw .circuitMalformed }
    let start = try take(constantCount * F.byteCount)
    var constants: [F] = []
    for index in 0..<constantCount {
      let constant = bytes.withUnsafeBufferPointer { bytes in
        bytes.baseAddress.flatMap { F($0 + start + index * F.byteCount) }
      }
      guard let constant else { throw .circuitMalformed }
      constants.append(constant)
    }
    let identity = CircuitIdentity(constants)
    identity.absorb(F.identifierPrefix)
    for value in [outputs, ceilingLog2(outputs), 1, 0, layerCount, inputs, publicInputs, boundary] {
      identity.absorb(value)
    }
    var layers: [CircuitLayer] = []
    var wires = outputs
    for _ in 0..<layerCount {
      let layer = try layer(outputs: wires, constants: constantCount, identity: identity)
      layers.append(layer)
      wires = layer.wires
    }
    let end = try take(32)
    let identifier = identity.digest()
    guard wires == inputs, identifier == Array(bytes[end..<(end + 32)]) else { throw .circuitMalformed }
    return Circuit(
      identifier: identifier, outputs: outputs, publicInputs: publicInputs, inputs: inputs, constants: constants,
      layers: layers)
  }

  private mutating func layer(
    outputs: Int, constants: Int, identity: CircuitIdentity
  ) throws(LongfellowError) -> CircuitLayer {
    let logWires = try number()
    let wires = try number()
    let count = try number()
    guard (1...40).contains(logWires), wires > 0, ceilingLog2(wires) <= logWires else { throw .circuitMalformed }
    let start = try take(12 * count)
    identity.absorb(wires)
    identity.absorb(logWires)
    identity.absorb(count)
    var layer = CircuitLayer(logWires: logWires, wires: wires)
    layer.termOutputs.reserveCapacity(count)
    layer.termConstants.reserveCapacity(count)
    let isWhole = bytes.withUnsafeBufferPointer { bytes in
      var (output, left, right) = (0, 0, 0)
      var position = start
      func number() -> Int {
        defer { position += 3 }
        return Int(bytes[position]) | Int(bytes[position + 1]) << 8 | Int(bytes[position + 2]) << 16
      }
      func difference() -> Int {
        let number = number()
        return number & 1 == 1 ? -(number >> 1) : number >> 1
      }
      var last = carryless_group(left: .max, right: .max, end: 0)
      for term in 0..<count {
        output += difference()
        left += difference()
        right += difference()
        let constant = number()
        guard 0 <= output, output < outputs, 0 <= left, left < wires, 0 <= right, right < wires, constant < constants
        else { return false }
        identity.absorb(output: output, left: left, right: right, constant: constant)
        if last.left != left || last.right != right {
          if term > 0 { layer.groups.append(last) }
          last = carryless_group(left: UInt32(left), right: UInt32(right), end: 0)
        }
        last.end = UInt32(term + 1)
        layer.termOutputs.append(UInt32(output))
        layer.termConstants.append(UInt16(constant))
      }
      if count > 0 { layer.groups.append(last) }
      return true
    }
    guard isWhole else { throw .circuitMalformed }
    return layer
  }
}

/// The hash over a circuit's parts that names it.
private final class CircuitIdentity {
  private let hash = RunningHash()
  private let constants: [[UInt8]]
  private var buffer: UnsafeMutablePointer<UInt8>
  private var filled = 0
  private static var capacity: Int { 1 << 16 }

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
    if filled + 56 > Self.capacity { flush() }
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
