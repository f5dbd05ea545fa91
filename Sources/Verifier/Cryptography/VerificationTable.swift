import Base
import COpenSSL

/// Precomputed multiples of a P-256 public key Q, for cheaper verifications.
///
/// ECDSA checks that u1·G + u2·Q has x-coordinate r (FIPS 186-5, 6.4.2). OpenSSL has a table only for the generator G,
/// so u2·Q costs three times as much as u1·G. A table for Q, computed as for another generator, makes both equal.
/// OpenSSL's verification makes the same checks in the same order. Nothing here is secret. A table bypasses OpenSSL's
/// providers, so none is made if only validated providers may run.
///
/// A table takes 150 kB of memory, and 35 ms of processor time to make.
final class VerificationTable: Sendable {
  // Never changed: OpenSSL's functions take them as constants.
  nonisolated(unsafe) private static let curve = EC_GROUP_new_by_curve_name(Curve.p256.nid)
  nonisolated(unsafe) private static let order = curve.flatMap { EC_GROUP_get0_order($0) }  // proof above
  /// The curve with Q instead of G, and its table.
  nonisolated(unsafe) private let multiples: OpaquePointer  // proof above

  /// True if a table is worth its cost: on P-256, if OpenSSL has special code for the curve.
  static func pays(for key: PublicKey) -> Bool {
    #if arch(x86_64) || arch(arm64)
      key.curve == .p256 && EVP_default_properties_is_fips_enabled(nil) == 0
    #else
      false
    #endif
  }

  /// Nil for other curves, or if memory runs out.
  init?(_ key: PublicKey) {
    guard key.curve == .p256, let curve = Self.curve, let order = Self.order, let multiples = EC_GROUP_dup(curve) else {
      ERR_clear_error()
      return nil
    }
    let point = EC_POINT_new(curve)
    defer { EC_POINT_free(point) }
    guard let point, EC_POINT_oct2point(curve, point, key.encoded, key.encoded.count, nil) == 1,
      EC_GROUP_set_generator(multiples, point, order, EC_GROUP_get0_cofactor(curve)) == 1,
      EC_GROUP_precompute_mult(multiples, nil) == 1
    else {
      ERR_clear_error()
      EC_GROUP_free(multiples)
      return nil
    }
    self.multiples = multiples
  }

  deinit { EC_GROUP_free(multiples) }

  /// True if this key made the DER signature over the hash.
  func verifies(_ signature: UnsafeBufferPointer<UInt8>, of digest: UnsafeBufferPointer<UInt8>) -> Bool {
    let isValid = check(signature, digest)
    if !isValid { ERR_clear_error() }
    return isValid
  }

  private func check(_ signature: UnsafeBufferPointer<UInt8>, _ digest: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let pair = Self.numbers(of: signature) else { return false }
    defer { ECDSA_SIG_free(pair) }
    guard let order = Self.order, let r = ECDSA_SIG_get0_r(pair), let s = ECDSA_SIG_get0_s(pair),
      Self.isScalar(r), Self.isScalar(s), let context = BN_CTX_new()
    else { return false }
    BN_CTX_start(context)
    defer {
      BN_CTX_end(context)
      BN_CTX_free(context)
    }
    let inverse = BN_CTX_get(context)
    let u1 = BN_CTX_get(context)
    // `BN_CTX_get` returns nil from its first failure on, so the last check is enough.
    guard let u2 = BN_CTX_get(context) else { return false }
    let length = min(digest.count, Curve.p256.coordinateLength)  // the leftmost bits, as many as the order has
    guard BN_bin2bn(digest.baseAddress, Int32(length), u1) != nil, BN_mod_inverse(inverse, s, order, context) != nil,
      BN_mod_mul(u1, u1, inverse, order, context) == 1, BN_mod_mul(u2, r, inverse, order, context) == 1,
      let x = sum(u1, u2, context), BN_nnmod(x, x, order, context) == 1
    else { return false }
    return BN_cmp(x, r) == 0
  }

  /// The x-coordinate of u1·G + u2·Q; nil if the sum is infinity.
  private func sum(_ u1: OpaquePointer?, _ u2: OpaquePointer, _ context: OpaquePointer) -> OpaquePointer? {
    guard let curve = Self.curve, let first = EC_POINT_new(curve) else { return nil }
    defer { EC_POINT_free(first) }
    guard let second = EC_POINT_new(multiples) else { return nil }
    defer { EC_POINT_free(second) }
    guard EC_POINT_mul(curve, first, u1, nil, nil, context) == 1,
      EC_POINT_mul(multiples, second, u2, nil, nil, context) == 1,
      // This function also handles equal points, and opposite points, whose sum is infinity.
      EC_POINT_add(curve, first, first, second, context) == 1, EC_POINT_is_at_infinity(curve, first) == 0,
      let x = BN_CTX_get(context), EC_POINT_get_affine_coordinates(curve, first, x, nil, context) == 1
    else { return nil }
    return x
  }

  private static func isScalar(_ number: OpaquePointer) -> Bool {
    BN_is_zero(number) == 0 && BN_is_negative(number) == 0 && BN_ucmp(number, order) < 0
  }

  /// r and s of a signature in DER; nil for any other encoding (RFC 3279, 2.2.3).
  private static func numbers(of signature: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
    var position = signature.baseAddress
    guard let pair = d2i_ECDSA_SIG(nil, &position, signature.count) else { return nil }
    // OpenSSL also reads BER and ignores trailing bytes. The input is DER only if it equals OpenSSL's own encoding.
    let isDER = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(signature.count, 1)) { written in
      guard i2d_ECDSA_SIG(pair, nil) == signature.count else { return false }
      var end = written.baseAddress
      return i2d_ECDSA_SIG(pair, &end) == signature.count && written.prefix(signature.count).elementsEqual(signature)
    }
    guard isDER else {
      ECDSA_SIG_free(pair)
      return nil
    }
    return pair
  }
}

/// The tables of reused keys, by point. Only good signatures of trusted document signers are counted.
final class VerificationTables: Sendable {
  static let shared = VerificationTables(slots: 32)
  /// The number of good signatures before a table is made. A table pays off after about a thousand verifications. A key
  /// with this many signatures is likely to reach that number.
  static let enough = 128
  /// Seconds without a signature after which a key gives up its slot.
  static let idle: Int64 = 3_600
  /// Maximum number of keys to count.
  private static let capacity = 1_024

  private struct Use {
    var count = 0
    var last: Int64 = 0
    var table: VerificationTable?
    var isMaking = false

    var takesSlot: Bool { table != nil || isMaking }
  }

  private let uses = Locked<[[UInt8]: Use]>([:])
  private let slots: Int
  private let clock: @Sendable () -> Int64

  /// - Parameter clock: seconds since any time.
  init(slots: Int, clock: @escaping @Sendable () -> Int64 = { (ContinuousClock.now - start).components.seconds }) {
    self.slots = slots
    self.clock = clock
  }

  private static let start = ContinuousClock.now

  func table(of key: PublicKey) -> VerificationTable? {
    let now = clock()
    return uses.withLock { uses in
      uses[key.encoded]?.last = now
      return uses[key.encoded]?.table
    }
  }

  /// Counts a good signature. Once a key has enough signatures and a slot is free, a table is made on a background
  /// thread.
  func count(_ key: PublicKey) {
    let now = clock()
    guard note(key, at: now) else { return }
    let isStarted = BackgroundThread.start("mdoc-table") { self.finish(key, with: VerificationTable(key)) }
    if !isStarted { finish(key, with: nil) }
  }

  /// Counts a signature; true if a table must be made, for which a slot is then reserved.
  private func note(_ key: PublicKey, at now: Int64) -> Bool {
    uses.withLock { uses in
      if uses.count >= Self.capacity, uses[key.encoded] == nil { uses = uses.filter { $0.value.takesSlot } }
      var use = uses[key.encoded] ?? Use()
      use.count += 1
      use.last = now
      // Slots are searched under the lock. A key that gets no slot therefore does not search again at each signature.
      let isDue =
        use.count.isMultiple(of: Self.enough) && !use.takesSlot && VerificationTable.pays(for: key)
        && Self.freeSlot(in: &uses, of: slots, at: now)
      if isDue { use.isMaking = true }
      uses[key.encoded] = use
      return isDue
    }
  }

  private static func freeSlot(in uses: inout [[UInt8]: Use], of slots: Int, at now: Int64) -> Bool {
    let taken = uses.filter { $0.value.takesSlot }
    if taken.count < slots { return true }
    guard let oldest = taken.filter({ !$0.value.isMaking }).min(by: { $0.value.last < $1.value.last }),
      now - oldest.value.last >= idle
    else { return false }
    uses[oldest.key] = nil
    return true
  }

  private func finish(_ key: PublicKey, with table: VerificationTable?) {
    uses.withLock { uses in
      uses[key.encoded, default: Use()].isMaking = false
      uses[key.encoded]?.table = table
      // If memory runs out, the count begins again.
      if table == nil { uses[key.encoded]?.count = 0 }
    }
  }
}

extension PublicKey {
  /// Declares that the key is trusted and reused, which allows a table for cheaper verifications.
  package func expectReuse() { isReused.store(true, ordering: .relaxed) }
}
