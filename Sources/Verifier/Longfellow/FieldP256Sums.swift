/// A sum of products in FieldP256 that is reduced once, at its end: nine limbs, the lowest first.
struct ProductSum {
  private var t0: UInt64 = 0
  private var t1: UInt64 = 0
  private var t2: UInt64 = 0
  private var t3: UInt64 = 0
  private var t4: UInt64 = 0
  private var t5: UInt64 = 0
  private var t6: UInt64 = 0
  private var t7: UInt64 = 0
  private var t8: UInt64 = 0

  @inline(__always) private static func low(_ wide: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: wide) }

  /// Adds a·b. Fewer than 2^24 products keep the highest limb within `reduced`'s bounds.
  @inline(__always) mutating func add(_ a: FieldP256, _ b: FieldP256) {
    var (p0, p1, p2, p3) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    // One limb of a times b, added to what is left of the rows before; returns the limb that is complete.
    @inline(__always) func row(_ x: UInt64) -> UInt64 {
      let m0 = UInt128(x) &* UInt128(b.l0) &+ UInt128(p0)
      let m1 = UInt128(x) &* UInt128(b.l1) &+ UInt128(p1) &+ (m0 >> 64)
      let m2 = UInt128(x) &* UInt128(b.l2) &+ UInt128(p2) &+ (m1 >> 64)
      let m3 = UInt128(x) &* UInt128(b.l3) &+ UInt128(p3) &+ (m2 >> 64)
      (p0, p1, p2, p3) = (Self.low(m1), Self.low(m2), Self.low(m3), Self.low(m3 >> 64))
      return Self.low(m0)
    }
    let s0 = UInt128(t0) &+ UInt128(row(a.l0))
    let s1 = UInt128(t1) &+ UInt128(row(a.l1)) &+ (s0 >> 64)
    let s2 = UInt128(t2) &+ UInt128(row(a.l2)) &+ (s1 >> 64)
    let s3 = UInt128(t3) &+ UInt128(row(a.l3)) &+ (s2 >> 64)
    let s4 = UInt128(t4) &+ UInt128(p0) &+ (s3 >> 64)
    let s5 = UInt128(t5) &+ UInt128(p1) &+ (s4 >> 64)
    let s6 = UInt128(t6) &+ UInt128(p2) &+ (s5 >> 64)
    let s7 = UInt128(t7) &+ UInt128(p3) &+ (s6 >> 64)
    (t0, t1, t2, t3) = (Self.low(s0), Self.low(s1), Self.low(s2), Self.low(s3))
    (t4, t5, t6, t7) = (Self.low(s4), Self.low(s5), Self.low(s6), Self.low(s7))
    t8 &+= Self.low(s7 >> 64)
  }

  /// Adds the sum times a value to another sum, and starts again.
  @inline(__always) mutating func carry(_ value: FieldP256, to next: inout ProductSum) {
    next.add(value, reduced)
    self = ProductSum()
  }

  /// The sum over 2^256, mod p (Montgomery's reduction).
  @inline(__always) var reduced: FieldP256 {
    var (u0, u1, u2, u3) = (t0, t1, t2, t3)
    var carry: UInt64 = 0
    // Clears the lowest limb with a multiple of p and takes in one more; p ≡ −1 mod 2^64, so the limb is the factor.
    @inline(__always) func step(_ next: UInt64) {
      let n1 = UInt128(u1) &+ (UInt128(u0) << 32)
      let n2 = UInt128(u2) &+ (n1 >> 64)
      let n3 = UInt128(u3) &+ UInt128(u0) &* UInt128(0xffff_ffff_0000_0001 as UInt64) &+ (n2 >> 64)
      let n4 = UInt128(next) &+ (n3 >> 64) &+ UInt128(carry)
      (u0, u1, u2, u3, carry) = (Self.low(n1), Self.low(n2), Self.low(n3), Self.low(n4), Self.low(n4 >> 64))
    }
    step(t4)
    step(t5)
    step(t6)
    step(t7)
    // What is above 2^256 counts as that many ones.
    let top = UInt128(t8 &+ carry)
    let one = FieldP256.one
    let s0 = UInt128(u0) &+ top &* UInt128(one.l0)
    let s1 = UInt128(u1) &+ top &* UInt128(one.l1) &+ (s0 >> 64)
    let s2 = UInt128(u2) &+ top &* UInt128(one.l2) &+ (s1 >> 64)
    let s3 = UInt128(u3) &+ top &* UInt128(one.l3) &+ (s2 >> 64)
    return FieldP256.reduced(Self.low(s0), Self.low(s1), Self.low(s2), Self.low(s3), Self.low(s3 >> 64))
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
    // The groups are sorted by their left wire, mostly: what they have in common is multiplied once.
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
