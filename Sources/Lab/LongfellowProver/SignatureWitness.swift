import CBOR
import Cryptography
import Longfellow

/// The signature circuit's inputs: the statement, then the secret inputs.
struct SignatureWitness {
  /// All inputs. The bits of the tags and of the verifier's key are zero until `set(tags:)` is called.
  private(set) var inputs = Wires<FieldP256>()

  /// The numbers in both circuits: the signed hash and the device key's coordinates. Each has 32 bytes, big-endian.
  static func sharedNumbers(_ issuer: IssuerFacts) -> [[UInt8]] {
    [HashAlgorithm.sha256.hash(issuer.signed), issuer.deviceX, issuer.deviceY]
  }

  /// - Parameter keys: the prover's shares of the tags' keys.
  init(
    _ document: ProvableDocument, _ request: ProverRequest, issuer: IssuerFacts, keys: [FieldGF128]
  ) throws(ProverError) {
    guard case .signature(let signature) = document.device else { throw .deviceMAC }
    guard signature.count == 64 else { throw .deviceSignature }
    let shared = Self.sharedNumbers(issuer)
    let deviceHash = Self.deviceHash(documentType: document.documentType, transcript: request.transcript)
    inputs.append(.one)
    for number in [issuer.issuerX, issuer.issuerY, deviceHash] { inputs.append(FieldP256(bigEndian: number)) }
    inputs.append(contentsOf: [FieldP256](repeating: .zero, count: 7 * 128))
    for number in shared { inputs.append(FieldP256(bigEndian: number)) }
    let issued = try ECDSAWitness(
      x: issuer.issuerX, y: issuer.issuerY, hash: shared[0], signature: issuer.signature, ifWrong: .issuerSignature)
    let signed = try ECDSAWitness(
      x: issuer.deviceX, y: issuer.deviceY, hash: deviceHash, signature: signature, ifWrong: .deviceSignature)
    inputs.append(contentsOf: issued.wires + signed.wires)
    for (index, number) in shared.enumerated() {
      append(pairsOf: keys[2 * index].bytes)
      append(pairsOf: keys[2 * index + 1].bytes)
      append(pairsOf: number.reversed())
    }
  }

  /// Appends bytes with two bits for each wire, the lowest bits first. A pair v is encoded as 2·v − 3.
  private mutating func append(pairsOf bytes: [UInt8]) {
    let values = (0..<4).map { FieldP256.point(2 * $0) - .point(3) }
    for byte in bytes {
      for pair in 0..<4 { inputs.append(values[Int(byte >> UInt8(2 * pair)) & 3]) }
    }
  }

  /// - Parameter tags: the six tags, then the verifier's key.
  mutating func set(tags: [FieldGF128]) {
    var bits = Wires<FieldP256>()
    for tag in tags { bits.append(bits: tag.bytes) }
    inputs.replace(at: 4, with: bits.values)
  }

  /// The hash that the device signs (ISO/IEC 18013-5, 9.1.3.4), with empty DeviceNameSpaces.
  private static func deviceHash(documentType: String, transcript: [UInt8]) -> [UInt8] {
    let authentication = CBORValue.array([
      "DeviceAuthentication", .encoded(transcript), .text(documentType), .embedded([:]),
    ])
    let structure = CBORValue.array([
      "Signature1", .bytes([0xa1, 0x01, 0x26]), .bytes([]), .bytes(CBORValue.embedded(authentication).encoded()),
    ])
    return HashAlgorithm.sha256.hash(structure.encoded())
  }
}

/// The signature circuit's inputs for one ECDSA signature. They show, bit by bit, that hash·G + r·Q − s·R is infinity.
struct ECDSAWitness {
  let wires: [FieldP256]

  /// - Parameters:
  ///   - x, y: the key, 32 bytes big-endian each, like the hash.
  ///   - signature: r and s.
  ///   - wrong: the error for a wrong signature.
  init(x: [UInt8], y: [UInt8], hash: [UInt8], signature: [UInt8], ifWrong wrong: ProverError) throws(ProverError) {
    let r = Array(signature.prefix(32))
    let s = Array(signature.suffix(32))
    let zero = [UInt8](repeating: 0, count: 32)
    guard r != zero, s != zero, r.lexicographicallyPrecedes(CurveP256.order),
      s.lexicographicallyPrecedes(CurveP256.order), let key = CurveP256.point(x: x, y: y)
    else { throw wrong }
    guard hash.lexicographicallyPrecedes(CurveP256.order) else { throw .unluckyNumber }
    let negated = Self.negated(s)
    let radius = FieldP256(bigEndian: r)
    guard let root = CurveP256.y(ofX: radius) else { throw wrong }
    // R is one of the two points with this x.
    for y in [root, .zero - root] {
      let table = try Self.table(key, ProjectivePoint(x: radius, y: y, z: .one))
      guard let steps = Self.steps(hash: hash, r: r, negated: negated, table: table) else { continue }
      let inverses = [radius, FieldP256(bigEndian: negated), key.x].map(\.inverse)
      let sums = [3, 5, 6, 7].flatMap { [table[$0].x, table[$0].y] }
      wires = [radius, y] + inverses + sums + steps
      return
    }
    throw wrong
  }

  /// The order minus this number.
  private static func negated(_ number: [UInt8]) -> [UInt8] {
    var result = CurveP256.order
    var borrow = 0
    for index in result.indices.reversed() {
      let difference = Int(result[index]) - Int(number[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      result[index] = UInt8(truncatingIfNeeded: difference)
    }
    return result
  }

  /// The sums of all subsets of G, Q and R. All have z = 1 except infinity.
  private static func table(_ key: ProjectivePoint, _ radius: ProjectivePoint) throws(ProverError) -> [ProjectivePoint]
  {
    let generator = CurveP256.generator
    var table = [ProjectivePoint.infinity, generator, key, generator + key, radius]
    table += [generator + radius, key + radius, generator + key + radius]
    for index in table.indices.dropFirst() {
      guard let point = table[index].affine else { throw .unluckyNumber }
      table[index] = point
    }
    return table
  }

  /// The bits and partial sums, the highest bit first; nil if the sum is not infinity.
  private static func steps(hash: [UInt8], r: [UInt8], negated: [UInt8], table: [ProjectivePoint]) -> [FieldP256]? {
    var wires: [FieldP256] = []
    var sum = ProjectivePoint.infinity
    for index in 0..<256 {
      func bit(_ number: [UInt8]) -> Int { Int(number[index / 8] >> UInt8(7 - index % 8)) & 1 }
      let choice = bit(hash) + 2 * bit(r) + 4 * bit(negated)
      wires.append(.point(2 * choice) - .point(7))
      if index > 0 { sum = sum.doubled }
      sum = sum + table[choice]
      if index < 255 { wires += [sum.x, sum.y, sum.z] }
    }
    return sum.x == .zero && sum.z == .zero ? wires : nil
  }
}
