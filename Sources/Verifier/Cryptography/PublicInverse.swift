import COpenSSL

/// Divides by public numbers modulo a prime of 256 bits. The time depends on the numbers, so none may be secret.
///
/// `BN_mod_inverse` takes a third of the time of a verification with a table. The extended binary Euclidean algorithm
/// is faster here, since it is less general. OpenSSL's multiplication checks each inverse.
struct PublicInverse: Sendable {
  private let prime: PublicNumber
  // These never change: OpenSSL's functions take them as constants.
  nonisolated(unsafe) private let modulus: OpaquePointer  // proof above
  nonisolated(unsafe) let montgomery: OpaquePointer  // proof above

  /// Nil unless the prime has 256 bits.
  init?(modulus: OpaquePointer, montgomery: OpaquePointer) {
    guard let prime = PublicNumber(modulus), BN_num_bits(modulus) == 256 else { return nil }
    self.prime = prime
    self.modulus = modulus
    self.montgomery = montgomery
  }

  /// Sets `divisor` to R/number, with R = 2^256: Montgomery multiplication by `divisor` divides by the number. The
  /// number must be nonzero and below the prime. False if memory runs out.
  func set(_ divisor: OpaquePointer, dividingBy number: OpaquePointer, _ context: OpaquePointer) -> Bool {
    if setQuickly(divisor, number, context) { return true }
    // Only a few numbers, all of them small, need this slower path.
    return BN_mod_inverse(divisor, number, modulus, context) != nil
      && BN_to_montgomery(divisor, divisor, montgomery, context) == 1
  }

  private func setQuickly(_ divisor: OpaquePointer, _ number: OpaquePointer, _ context: OpaquePointer) -> Bool {
    BN_CTX_start(context)
    defer { BN_CTX_end(context) }
    // `BN_CTX_get` returns nil from its first failure on, so the last check is enough.
    let power = BN_CTX_get(context)
    guard let product = BN_CTX_get(context), let value = PublicNumber(number),
      let (multiple, exponent) = value.almostInverse(modulo: prime), (257...512).contains(exponent)
    else { return false }
    // 2^exponent / number · 2^(512 - exponent) / R = R / number.
    return multiple.write(to: divisor) && BN_set_bit(power, Int32(512 - exponent)) == 1
      && BN_mod_mul_montgomery(divisor, divisor, power, montgomery, context) == 1
      && BN_mod_mul_montgomery(product, divisor, number, montgomery, context) == 1 && BN_is_one(product) == 1
  }
}

/// A public number of at most 256 bits.
struct PublicNumber: Equatable {
  private var high: UInt128
  private var low: UInt128

  /// Nil for a larger number.
  init?(_ number: OpaquePointer) {
    var words: (UInt128, UInt128) = (0, 0)
    let isWritten = withUnsafeMutableBytes(of: &words) { bytes in
      BN_bn2lebinpad(number, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) >= 0
    }
    guard isWritten else { return nil }
    (low, high) = (UInt128(littleEndian: words.0), UInt128(littleEndian: words.1))
  }

  private init(_ low: UInt128) { (self.high, self.low) = (0, low) }

  func write(to number: OpaquePointer) -> Bool {
    withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { bytes in
      BN_lebin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), number) != nil
    }
  }

  /// 2^exponent divided by this number (Kaliski, "The Montgomery Inverse and its Applications", phase 1). Nil if the
  /// two numbers have a common divisor.
  func almostInverse(modulo prime: PublicNumber) -> (multiple: PublicNumber, exponent: Int)? {
    guard self != PublicNumber(0) else { return nil }
    // Invariants: self·s ≡ v·2^exponent, self·r ≡ -u·2^exponent and u·s + v·r = prime. No number therefore outgrows the
    // prime.
    var (u, v) = (prime, self)
    var (r, s) = (PublicNumber(0), PublicNumber(1))
    var exponent = v.removeFactorsOfTwo()
    while u != v {
      let count: Int
      if v.isLess(than: u) {
        u.subtract(v)
        r.add(s)
        count = u.removeFactorsOfTwo()
        s.shiftLeft(count)
      } else {
        v.subtract(u)
        s.add(r)
        count = v.removeFactorsOfTwo()
        r.shiftLeft(count)
      }
      exponent += count
    }
    return u == PublicNumber(1) ? (s, exponent) : nil
  }

  private func isLess(than other: PublicNumber) -> Bool {
    high == other.high ? low < other.low : high < other.high
  }

  private mutating func add(_ other: PublicNumber) {
    let (sum, carries) = low.addingReportingOverflow(other.low)
    low = sum
    high = high &+ other.high &+ (carries ? 1 : 0)
  }

  private mutating func subtract(_ other: PublicNumber) {
    let (difference, borrows) = low.subtractingReportingOverflow(other.low)
    low = difference
    high = high &- other.high &- (borrows ? 1 : 0)
  }

  private mutating func shiftLeft(_ count: Int) {
    high = high << count | low >> (128 - count)
    low <<= count
  }

  /// Shifts a nonzero number right until it is odd.
  private mutating func removeFactorsOfTwo() -> Int {
    let count = low == 0 ? 128 + high.trailingZeroBitCount : low.trailingZeroBitCount
    low = low >> count | high << (128 - count)
    if count > 128 { low = high >> (count - 128) }
    high >>= count
    return count
  }
}
