/// The base field of P-256, in Montgomery form (SEC 2, 2.4.2): four limbs, the lowest first.
package struct FieldP256: ProofField {
  let l0, l1, l2, l3: UInt64

  @inline(__always) init(_ l0: UInt64, _ l1: UInt64, _ l2: UInt64, _ l3: UInt64) {
    (self.l0, self.l1, self.l2, self.l3) = (l0, l1, l2, l3)
  }

  private static var p0: UInt64 { .max }
  private static var p1: UInt64 { 0xffff_ffff }
  private static var p3: UInt64 { 0xffff_ffff_0000_0001 }

  package static var byteCount: Int { 32 }
  package static var subfieldByteCount: Int { 32 }
  package static var identifier: Int { 1 }
  package static var identifierPrefix: [UInt8] {
    // p − 1.
    [1, 0, 0, 0, 0, 0, 0, 0, 0xfe] + [UInt8](repeating: 0xff, count: 11) + [UInt8](repeating: 0, count: 12)
      + [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]
  }
  package static var zero: Self { Self(0, 0, 0, 0) }
  /// 2^256 mod p.
  package static var one: Self { Self(1, 0xffff_ffff_0000_0000, .max, 0xffff_fffe) }
  /// 2^512 mod p, as limbs.
  private static let squaredRadix = {
    var value = one
    for _ in 0..<256 { value = value + value }
    return value
  }()

  /// The value of the limbs and the carry, minus p if the value is at least p.
  @inline(__always) static func reduced(
    _ t0: UInt64, _ t1: UInt64, _ t2: UInt64, _ t3: UInt64, _ carry: UInt64
  ) -> Self {
    let (r0, b0) = subtract(t0, p0, 0)
    let (r1, b1) = subtract(t1, p1, b0)
    let (r2, b2) = subtract(t2, 0, b1)
    let (r3, b3) = subtract(t3, p3, b2)
    // The sum is the result if the subtraction borrowed more than the carry provides. Masks select the result: branches
    // on random data are mispredicted.
    let keeps = 0 &- (b3 & (carry ^ 1))
    return Self(
      (t0 & keeps) | (r0 & ~keeps), (t1 & keeps) | (r1 & ~keeps), (t2 & keeps) | (r2 & ~keeps),
      (t3 & keeps) | (r3 & ~keeps))
  }

  /// - Parameter borrow: 0 or 1, like the returned borrow.
  @inline(__always) private static func subtract(_ a: UInt64, _ b: UInt64, _ borrow: UInt64) -> (UInt64, UInt64) {
    let wide = UInt128(a) &- UInt128(b) &- UInt128(borrow)
    return (wide.low, wide.high & 1)
  }

  @inline(__always) package static func + (a: Self, b: Self) -> Self {
    let s0 = UInt128(a.l0) &+ UInt128(b.l0)
    let s1 = UInt128(a.l1) &+ UInt128(b.l1) &+ (s0 >> 64)
    let s2 = UInt128(a.l2) &+ UInt128(b.l2) &+ (s1 >> 64)
    let s3 = UInt128(a.l3) &+ UInt128(b.l3) &+ (s2 >> 64)
    return reduced(s0.low, s1.low, s2.low, s3.low, s3.high)
  }

  @inline(__always) package static func - (a: Self, b: Self) -> Self {
    let (r0, b0) = subtract(a.l0, b.l0, 0)
    let (r1, b1) = subtract(a.l1, b.l1, b0)
    let (r2, b2) = subtract(a.l2, b.l2, b1)
    let (r3, b3) = subtract(a.l3, b.l3, b2)
    let mask = 0 &- b3
    let s0 = UInt128(r0) &+ UInt128(p0 & mask)
    let s1 = UInt128(r1) &+ UInt128(p1 & mask) &+ (s0 >> 64)
    let s2 = UInt128(r2) &+ (s1 >> 64)
    let s3 = UInt128(r3) &+ UInt128(p3 & mask) &+ (s2 >> 64)
    return Self(s0.low, s1.low, s2.low, s3.low)
  }

  package static func * (a: Self, b: Self) -> Self {
    var (t0, t1, t2, t3, t4) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    @inline(__always) func step(_ x: UInt64) {
      let m0 = UInt128(x) &* UInt128(b.l0) &+ UInt128(t0)
      let m1 = UInt128(x) &* UInt128(b.l1) &+ UInt128(t1) &+ (m0 >> 64)
      let m2 = UInt128(x) &* UInt128(b.l2) &+ UInt128(t2) &+ (m1 >> 64)
      let m3 = UInt128(x) &* UInt128(b.l3) &+ UInt128(t3) &+ (m2 >> 64)
      let m4 = UInt128(t4) &+ (m3 >> 64)
      // p ≡ −1 mod 2^64. The lowest limb, m, is therefore the factor of p that clears this limb: m·p0 + m carries m.
      let factor = m0.low
      let n1 = UInt128(m1.low) &+ (UInt128(factor) << 32)
      let n2 = UInt128(m2.low) &+ (n1 >> 64)
      let n3 = UInt128(m3.low) &+ UInt128(factor) &* UInt128(p3) &+ (n2 >> 64)
      let n4 = m4 &+ (n3 >> 64)
      (t0, t1, t2, t3, t4) = (n1.low, n2.low, n3.low, n4.low, n4.high)
    }
    step(a.l0)
    step(a.l1)
    step(a.l2)
    step(a.l3)
    return reduced(t0, t1, t2, t3, t4)
  }

  /// The power with exponent p − 2, which is the inverse.
  package var inverse: Self { power([Self.p3, 0, Self.p1, Self.p0 - 2]) }

  package static func point(_ number: Int) -> Self { Self(UInt64(number), 0, 0, 0) * squaredRadix }
  package static func difference(_ first: Int, _ second: Int) -> Int { first - second }

  package init?(_ bytes: UnsafePointer<UInt8>) {
    let raw = UnsafeRawPointer(bytes)
    func limb(_ index: Int) -> UInt64 {
      UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    let plain = Self(limb(0), limb(1), limb(2), limb(3))
    let isBelow = plain.l3 < Self.p3 || (plain.l3 == Self.p3 && plain.l2 == 0 && Self.isLowBelow(plain.l1, plain.l0))
    guard isBelow else { return nil }
    self = plain * Self.squaredRadix
  }

  private static func isLowBelow(_ l1: UInt64, _ l0: UInt64) -> Bool { l1 < p1 || (l1 == p1 && l0 < p0) }

  package init?(subfield bytes: UnsafePointer<UInt8>) { self.init(bytes) }

  /// A big-endian integer of 32 bytes, mod p.
  package init(bigEndian bytes: [UInt8]) {
    self = bytes.reduce(Self.zero) { $0 * Self.point(256) + Self.point(Int($1)) }
  }

  package func write(to bytes: UnsafeMutablePointer<UInt8>) {
    let plain = self * Self(1, 0, 0, 0)
    let raw = UnsafeMutableRawPointer(bytes)
    raw.storeBytes(of: plain.l0.littleEndian, as: UInt64.self)
    raw.storeBytes(of: plain.l1.littleEndian, toByteOffset: 8, as: UInt64.self)
    raw.storeBytes(of: plain.l2.littleEndian, toByteOffset: 16, as: UInt64.self)
    raw.storeBytes(of: plain.l3.littleEndian, toByteOffset: 24, as: UInt64.self)
  }
}

extension FieldP256 {
  /// The curve's b (SEC 2, 2.4.2), big-endian.
  package static let curveB = Self(bigEndian: [
    0x5a, 0xc6, 0x35, 0xd8, 0xaa, 0x3a, 0x93, 0xe7, 0xb3, 0xeb, 0xbd, 0x55, 0x76, 0x98, 0x86, 0xbc, 0x65, 0x1d, 0x06,
    0xb0, 0xcc, 0x53, 0xb0, 0xf6, 0x3b, 0xce, 0x3c, 0x3e, 0x27, 0xd2, 0x60, 0x4b,
  ])

  /// True if both are 32 bytes, big-endian and below p, and the coordinates of a point on P-256.
  static func isPoint(x: [UInt8], y: [UInt8]) -> Bool {
    guard x.count == 32, y.count == 32, let x = Self(Array(x.reversed())), let y = Self(Array(y.reversed())) else {
      return false
    }
    return y * y == x * x * x - (x + x + x) + curveB
  }
}

extension UInt128 {
  @inline(__always) fileprivate var low: UInt64 { UInt64(truncatingIfNeeded: self) }
  @inline(__always) fileprivate var high: UInt64 { UInt64(truncatingIfNeeded: self >> 64) }
}

/// A sum of products in FieldP256, reduced only once, at the end. It has nine limbs, the lowest first.
struct ProductSum {
  private var (t0, t1, t2, t3) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
  private var (t4, t5, t6, t7, t8) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))

  /// Adds a·b. Fewer than 2^24 products keep the highest limb within `reduced`'s bounds.
  @inline(__always) mutating func add(_ a: FieldP256, _ b: FieldP256) {
    var (p0, p1, p2, p3) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    // Adds the product of b and one limb of a to the remaining limbs of the previous rows. Returns the completed limb.
    @inline(__always) func row(_ x: UInt64) -> UInt64 {
      let m0 = UInt128(x) &* UInt128(b.l0) &+ UInt128(p0)
      let m1 = UInt128(x) &* UInt128(b.l1) &+ UInt128(p1) &+ (m0 >> 64)
      let m2 = UInt128(x) &* UInt128(b.l2) &+ UInt128(p2) &+ (m1 >> 64)
      let m3 = UInt128(x) &* UInt128(b.l3) &+ UInt128(p3) &+ (m2 >> 64)
      (p0, p1, p2, p3) = (m1.low, m2.low, m3.low, m3.high)
      return m0.low
    }
    let s0 = UInt128(t0) &+ UInt128(row(a.l0))
    let s1 = UInt128(t1) &+ UInt128(row(a.l1)) &+ (s0 >> 64)
    let s2 = UInt128(t2) &+ UInt128(row(a.l2)) &+ (s1 >> 64)
    let s3 = UInt128(t3) &+ UInt128(row(a.l3)) &+ (s2 >> 64)
    let s4 = UInt128(t4) &+ UInt128(p0) &+ (s3 >> 64)
    let s5 = UInt128(t5) &+ UInt128(p1) &+ (s4 >> 64)
    let s6 = UInt128(t6) &+ UInt128(p2) &+ (s5 >> 64)
    let s7 = UInt128(t7) &+ UInt128(p3) &+ (s6 >> 64)
    (t0, t1, t2, t3) = (s0.low, s1.low, s2.low, s3.low)
    (t4, t5, t6, t7) = (s4.low, s5.low, s6.low, s7.low)
    t8 &+= s7.high
  }

  /// Multiplies this sum by a value, adds the product to another sum, and resets this sum.
  @inline(__always) mutating func carry(_ value: FieldP256, to next: inout ProductSum) {
    next.add(value, reduced)
    self = ProductSum()
  }

  /// The sum divided by 2^256, mod p (Montgomery's reduction).
  @inline(__always) var reduced: FieldP256 {
    var (u0, u1, u2, u3) = (t0, t1, t2, t3)
    var carry: UInt64 = 0
    // Clears the lowest limb with a multiple of p and adds the next limb. p ≡ −1 mod 2^64, so the lowest limb is the
    // factor of p.
    @inline(__always) func step(_ next: UInt64) {
      let n1 = UInt128(u1) &+ (UInt128(u0) << 32)
      let n2 = UInt128(u2) &+ (n1 >> 64)
      let n3 = UInt128(u3) &+ UInt128(u0) &* UInt128(0xffff_ffff_0000_0001 as UInt64) &+ (n2 >> 64)
      let n4 = UInt128(next) &+ (n3 >> 64) &+ UInt128(carry)
      (u0, u1, u2, u3, carry) = (n1.low, n2.low, n3.low, n4.low, n4.high)
    }
    step(t4)
    step(t5)
    step(t6)
    step(t7)
    // 2^256 ≡ one.
    let top = UInt128(t8 &+ carry)
    let one = FieldP256.one
    let s0 = UInt128(u0) &+ top &* UInt128(one.l0)
    let s1 = UInt128(u1) &+ top &* UInt128(one.l1) &+ (s0 >> 64)
    let s2 = UInt128(u2) &+ top &* UInt128(one.l2) &+ (s1 >> 64)
    let s3 = UInt128(u3) &+ top &* UInt128(one.l3) &+ (s2 >> 64)
    return FieldP256.reduced(s0.low, s1.low, s2.low, s3.low, s3.high)
  }
}

extension FieldP256 {
  package static func dot(_ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int) -> Self {
    var sum = ProductSum()
    for index in 0..<count { sum.add(a[index], b[index]) }
    return sum.reduced
  }

  package static func fill(
    _ sums: UnsafeMutableBufferPointer<Self>, _ first: EqFactors<Self>, _ second: EqFactors<Self>
  ) {
    for index in sums.indices {
      var sum = ProductSum()
      sum.add(first.lowValue(index), first.highValue(index))
      sum.add(second.lowValue(index), second.highValue(index))
      sums[index] = sum.reduced
    }
  }

  package static func bind(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: [Self], left: EqFactors<Self>, right: EqFactors<Self>
  ) -> Self {
    // Most groups are sorted by their left wire, so a common factor is multiplied only once.
    var (sameRightHigh, sameLeft, sameLeftHigh, sum) = (ProductSum(), ProductSum(), ProductSum(), ProductSum())
    var term = 0
    let groups = layer.groups
    for index in groups.indices {
      let group = groups[index]
      var inner = zero
      while term < Int(group.end) {
        let output = outputs[Int(layer.entries[term].output)]
        let constant = Int(layer.entries[term].constant)
        inner = inner + (constant == one ? output : constants[constant] * output)
        term += 1
      }
      let (leftWire, rightWire) = (Int(group.left), Int(group.right))
      sameRightHigh.add(right.lowValue(rightWire), inner)
      let next = index + 1 < groups.count ? groups[index + 1] : nil
      let keepsLeft = next.map { Int($0.left) == leftWire } ?? false
      if keepsLeft, let next, Int(next.right) >> right.lowBits == rightWire >> right.lowBits { continue }
      sameRightHigh.carry(right.highValue(rightWire), to: &sameLeft)
      if keepsLeft { continue }
      sameLeft.carry(left.lowValue(leftWire), to: &sameLeftHigh)
      if let next, Int(next.left) >> left.lowBits == leftWire >> left.lowBits { continue }
      sameLeftHigh.carry(left.highValue(leftWire), to: &sum)
    }
    return sum.reduced
  }
}
