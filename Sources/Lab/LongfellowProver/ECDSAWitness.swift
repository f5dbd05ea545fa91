import Longfellow

/// What the signature circuit is told of one ECDSA signature: that hash·G + r·Q − s·R, computed bit by bit, is the
/// point at infinity.
struct ECDSAWitness {
  let wires: [FieldP256]

  /// - Parameters:
  ///   - x, y: the key, 32 bytes big-endian each; so is the hash.
  ///   - signature: r and s.
  ///   - refusal: thrown where the signature is wrong.
  init(x: [UInt8], y: [UInt8], hash: [UInt8], signature: [UInt8], refusal: ProverRefusal) throws(ProverRefusal) {
    let r = Array(signature.prefix(32))
    let s = Array(signature.suffix(32))
    let zero = [UInt8](repeating: 0, count: 32)
    guard r != zero, s != zero, r.lexicographicallyPrecedes(CurveP256.order),
      s.lexicographicallyPrecedes(CurveP256.order), let key = CurveP256.point(x: x, y: y)
    else { throw refusal }
    guard hash.lexicographicallyPrecedes(CurveP256.order) else { throw .unluckyNumber }
    let negated = Self.negated(s)
    let radius = FieldP256(bigEndian: r)
    guard let root = CurveP256.y(ofX: radius) else { throw refusal }
    // R is one of the two points with this x.
    for y in [root, .zero - root] {
      let table = try Self.table(key, ProjectivePoint(x: radius, y: y, z: .one))
      guard let steps = Self.steps(hash: hash, r: r, negated: negated, table: table) else { continue }
      let inverses = [radius, FieldP256(bigEndian: negated), key.x].map(\.inverse)
      let sums = [3, 5, 6, 7].flatMap { [table[$0].x, table[$0].y] }
      wires = [radius, y] + inverses + sums + steps
      return
    }
    throw refusal
  }

  /// The order less this number.
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

  /// The sums of each choice of G, Q and R, all with z = 1 but infinity.
  private static func table(
    _ key: ProjectivePoint, _ radius: ProjectivePoint
  ) throws(ProverRefusal) -> [ProjectivePoint] {
    let generator = CurveP256.generator
    var table = [ProjectivePoint.infinity, generator, key, generator + key, radius]
    table += [generator + radius, key + radius, generator + key + radius]
    for index in table.indices.dropFirst() {
      guard let point = table[index].affine else { throw .unluckyNumber }
      table[index] = point
    }
    return table
  }

  /// The bits and partial sums from the top; nil if the sum isn't infinity.
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
