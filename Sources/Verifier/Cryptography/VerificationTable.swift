import Base
import COpenSSL

/// Multiples of a P-256 public key Q, computed once, that make each verification with that key cheaper.
///
/// ECDSA checks that u1·G + u2·Q has x-coordinate r (FIPS 186-5, 6.4.2). OpenSSL has a table for the generator G alone,
/// so u2·Q costs it three times what u1·G does. With a table for Q, which OpenSSL computes as for any other generator,
/// both cost the same. What is checked, and in which order, is as in OpenSSL's own verification; nothing here is secret.
/// It goes past OpenSSL's providers, so if only validated ones may run, there is no table.
///
/// It takes 150 kB, and 35 ms of a processor once.
final class VerificationTable: Sendable {
  // Never changed after they are made, and OpenSSL's functions take them as constants.
  nonisolated(unsafe) private static let curve = EC_GROUP_new_by_curve_name(Curve.p256.nid)
  nonisolated(unsafe) private static let order = curve.flatMap { EC_GROUP_get0_order($0) }  // proof above
  /// The curve with Q in the place of G, and its table.
  nonisolated(unsafe) private let multiples: OpaquePointer  // proof above

  /// Whether a table for this key is worth its cost: the key is on P-256, and OpenSSL has code of its own for that
  /// curve.
  static func pays(for key: PublicKey) -> Bool {
    #if arch(x86_64) || arch(arm64)
      key.curve == .p256 && EVP_default_properties_is_fips_enabled(nil) == 0
    #else
      false
    #endif
  }

  /// Nil for other curves, and when memory is short.
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

  /// Whether a DER signature over a hash is this key's.
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
    // `BN_CTX_get` gives nil from its first failure on, so checking the last is enough.
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
      // If both are the same point, or each other's negative, this doubles the point or gives infinity.
      EC_POINT_add(curve, first, first, second, context) == 1, EC_POINT_is_at_infinity(curve, first) == 0,
      let x = BN_CTX_get(context), EC_POINT_get_affine_coordinates(curve, first, x, nil, context) == 1
    else { return nil }
    return x
  }

  private static func isScalar(_ number: OpaquePointer) -> Bool {
    BN_is_zero(number) == 0 && BN_is_negative(number) == 0 && BN_ucmp(number, order) < 0
  }

  /// r and s of a signature in DER; nil for any other encoding of them (RFC 3279, 2.2.3).
  private static func numbers(of signature: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
    var position = signature.baseAddress
    guard let pair = d2i_ECDSA_SIG(nil, &position, signature.count) else { return nil }
    // OpenSSL reads BER too, and stops before what follows: only what it would write itself is DER.
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

/// The tables of keys that sign again and again. These are trusted document signers: no other keys are counted, and
/// only good signatures count.
///
/// They are kept by point, however many certificates and documents come with the same key.
final class VerificationTables: Sendable {
  static let shared = VerificationTables(places: 32)
  /// How many good signatures lead to a table. A table pays for itself after about a thousand verifications, and a key
  /// that has come this far will come that far.
  static let enough = 128
  /// Seconds after which a key that has not signed gives its place to another.
  static let idle: Int64 = 3_600
  /// The most keys that are counted.
  private static let capacity = 1_024

  private struct Use {
    var count = 0
    var last: Int64 = 0
    var table: VerificationTable?
    var isMaking = false

    var takesPlace: Bool { table != nil || isMaking }
  }

  private let uses = Locked<[[UInt8]: Use]>([:])
  private let places: Int
  private let clock: @Sendable () -> Int64

  /// - Parameter clock: seconds since any moment.
  init(places: Int, clock: @escaping @Sendable () -> Int64 = { (ContinuousClock.now - start).components.seconds }) {
    self.places = places
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

  /// Counts a good signature. When the count is enough and there is a place, a table is made on a thread of its own.
  func count(_ key: PublicKey) {
    let now = clock()
    guard note(key, at: now) else { return }
    let isStarted = BackgroundThread.start("mdoc-table") { self.finish(key, with: VerificationTable(key)) }
    if !isStarted { finish(key, with: nil) }
  }

  /// Whether a table is to be made. If so, its place is taken.
  private func note(_ key: PublicKey, at now: Int64) -> Bool {
    uses.withLock { uses in
      if uses.count >= Self.capacity, uses[key.encoded] == nil { uses = uses.filter { $0.value.takesPlace } }
      var use = uses[key.encoded] ?? Use()
      use.count += 1
      use.last = now
      // The places are searched under the lock, so this is not done for each signature of a key that gets none.
      let isDue =
        use.count.isMultiple(of: Self.enough) && !use.takesPlace && VerificationTable.pays(for: key)
        && Self.freePlace(in: &uses, of: places, at: now)
      if isDue { use.isMaking = true }
      uses[key.encoded] = use
      return isDue
    }
  }

  private static func freePlace(in uses: inout [[UInt8]: Use], of places: Int, at now: Int64) -> Bool {
    let taken = uses.filter { $0.value.takesPlace }
    if taken.count < places { return true }
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
      // Memory was short, so the count begins again.
      if table == nil { uses[key.encoded]?.count = 0 }
    }
  }
}

extension PublicKey {
  /// Says that the key is trusted and signs again and again. Verifying with it may become cheaper.
  package func expectReuse() { isReused.store(true, ordering: .relaxed) }
}
