import Base
import COpenSSL

/// Precomputed multiples of a P-256 public key Q, for cheaper verifications.
///
/// ECDSA checks that u1·G + u2·Q has x-coordinate r (FIPS 186-5, 6.4.2). OpenSSL has a table only for the generator G,
/// so u2·Q costs three times as much as u1·G. OpenSSL can compute a table for Q as if Q were the generator. Both
/// products then cost the same. OpenSSL's verification makes the same checks in the same order. Nothing here is secret.
/// A table bypasses OpenSSL's providers. No table is therefore made in FIPS mode, where only validated providers may
/// run.
///
/// A table takes 150 kB of memory. Making it takes 35 ms of processor time.
final class VerificationTable: Sendable {
  /// The curve, with the data of its order and its field. These never change: OpenSSL's functions take them as
  /// constants.
  fileprivate struct Domain: @unchecked Sendable {
    let curve: OpaquePointer
    let order: OpaquePointer
    let orderInverse: PublicInverse
    let field: OpaquePointer
    let fieldMontgomery: OpaquePointer

    init?() {
      let context = BN_CTX_new()
      defer { BN_CTX_free(context) }
      guard let context, let curve = EC_GROUP_new_by_curve_name(Curve.p256.nid), let order = EC_GROUP_get0_order(curve),
        let montgomery = EC_GROUP_get_mont_data(curve), let field = EC_GROUP_get0_field(curve),
        let inverse = PublicInverse(modulus: order, montgomery: montgomery),
        let fieldMontgomery = BN_MONT_CTX_new(), BN_MONT_CTX_set(fieldMontgomery, field, context) == 1
      else { return nil }
      self.curve = curve
      self.order = order
      orderInverse = inverse
      self.field = field
      self.fieldMontgomery = fieldMontgomery
    }
  }

  private static let domain = Domain()
  /// The curve with Q as its generator, and the table for Q.
  nonisolated(unsafe) private let multiples: OpaquePointer  // proof above

  /// True if a table is allowed and worth its cost: for P-256, outside FIPS mode, on processors for which OpenSSL has
  /// special code.
  static func pays(for key: PublicKey) -> Bool {
    #if arch(x86_64) || arch(arm64)
      key.curve == .p256 && EVP_default_properties_is_fips_enabled(nil) == 0
    #else
      false
    #endif
  }

  /// Nil for curves other than P-256, or if memory runs out.
  init?(_ key: PublicKey) {
    guard key.curve == .p256, let domain = Self.domain, let multiples = EC_GROUP_dup(domain.curve) else {
      ERR_clear_error()
      return nil
    }
    let curve = domain.curve
    let point = EC_POINT_new(curve)
    defer { EC_POINT_free(point) }
    guard let point, EC_POINT_oct2point(curve, point, key.encoded, key.encoded.count, nil) == 1,
      EC_GROUP_set_generator(multiples, point, domain.order, EC_GROUP_get0_cofactor(curve)) == 1,
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
  func verifies(der signature: UnsafeBufferPointer<UInt8>, of digest: UnsafeBufferPointer<UInt8>) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * Curve.p256.coordinateLength) { raw in
      DERSignature.read(signature, to: raw) && verifies(UnsafeBufferPointer(raw), of: digest)
    }
  }

  /// True if this key made the signature r‖s over the hash.
  func verifies(_ signature: UnsafeBufferPointer<UInt8>, of digest: UnsafeBufferPointer<UInt8>) -> Bool {
    guard signature.count == Curve.p256.signatureLength, let domain = Self.domain,
      let scratch = Self.scratches.withLock({ $0.popLast() }) ?? Scratch(on: domain.curve)
    else { return false }
    BN_CTX_start(scratch.context)
    let isValid = check(signature, digest, domain, scratch)
    BN_CTX_end(scratch.context)
    Self.scratches.withLock { if $0.count < Self.keptScratches { $0.append(scratch) } }
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// The numbers and points of one verification. Making them takes forty allocations, so the next verification reuses
  /// them.
  // Sendable: it is either in the list or has one owner.
  private final class Scratch: @unchecked Sendable {
    let context, first, second: OpaquePointer

    init?(on curve: OpaquePointer) {
      guard let context = BN_CTX_new(), let first = EC_POINT_new(curve), let second = EC_POINT_new(curve) else {
        return nil
      }
      (self.context, self.first, self.second) = (context, first, second)
    }

    deinit {
      EC_POINT_free(first)
      EC_POINT_free(second)
      BN_CTX_free(context)
    }
  }

  private static let scratches = Locked<[Scratch]>([])
  private static let keptScratches = 16

  private func check(
    _ signature: UnsafeBufferPointer<UInt8>, _ digest: UnsafeBufferPointer<UInt8>, _ domain: Domain, _ scratch: Scratch
  ) -> Bool {
    let (context, first, second) = (scratch.context, scratch.first, scratch.second)
    let length = Curve.p256.coordinateLength
    let r = BN_CTX_get(context)
    let s = BN_CTX_get(context)
    let u1 = BN_CTX_get(context)
    let u2 = BN_CTX_get(context)
    // `BN_CTX_get` returns nil from its first failure on, so the last check is enough.
    guard let divisor = BN_CTX_get(context), let r, let s, let start = signature.baseAddress,
      BN_bin2bn(start, Int32(length), r) != nil, BN_bin2bn(start + length, Int32(length), s) != nil,
      domain.isScalar(r), domain.isScalar(s), domain.orderInverse.set(divisor, dividingBy: s, context),
      // The digest's leftmost bits, as many as the order has.
      BN_bin2bn(digest.baseAddress, Int32(min(digest.count, length)), u1) != nil,
      BN_mod_mul_montgomery(u1, u1, divisor, domain.orderInverse.montgomery, context) == 1,
      BN_mod_mul_montgomery(u2, r, divisor, domain.orderInverse.montgomery, context) == 1
    else { return false }
    return EC_POINT_mul(domain.curve, first, u1, nil, nil, context) == 1
      && EC_POINT_mul(multiples, second, u2, nil, nil, context) == 1
      // This function also handles equal points, and opposite points, whose sum is infinity.
      && EC_POINT_add(domain.curve, first, first, second, context) == 1
      && EC_POINT_is_at_infinity(domain.curve, first) == 0 && domain.hasCoordinate(first, r, context)
  }
}

extension VerificationTable.Domain {
  /// True if the number is from 1 to n - 1.
  func isScalar(_ number: OpaquePointer) -> Bool { BN_is_zero(number) == 0 && BN_ucmp(number, order) < 0 }

  /// True if the point's x-coordinate, modulo the order, is r. The x-coordinate is X/Z², so x = r if r·Z² = X. This
  /// comparison saves an inversion. The coordinate may also be r + n, if that is below the field's prime.
  func hasCoordinate(_ point: OpaquePointer, _ r: OpaquePointer, _ context: OpaquePointer) -> Bool {
    let x = BN_CTX_get(context)
    let z = BN_CTX_get(context)
    guard let candidate = BN_CTX_get(context),
      EC_POINT_get_Jprojective_coordinates_GFp(curve, point, x, nil, z, context) == 1,
      BN_copy(candidate, r) != nil
    else { return false }
    repeat {
      if isQuotient(candidate, x, z, context) { return true }
      guard BN_add(candidate, candidate, order) == 1 else { return false }
    } while BN_ucmp(candidate, field) < 0
    return false
  }

  /// True if candidate·z² = x in the field.
  private func isQuotient(
    _ candidate: OpaquePointer, _ x: OpaquePointer?, _ z: OpaquePointer?, _ context: OpaquePointer
  ) -> Bool {
    let factor = BN_CTX_get(context)
    guard let product = BN_CTX_get(context), BN_to_montgomery(factor, z, fieldMontgomery, context) == 1,
      BN_mod_mul_montgomery(product, factor, candidate, fieldMontgomery, context) == 1,
      BN_mod_mul_montgomery(product, product, factor, fieldMontgomery, context) == 1
    else { return false }
    return BN_ucmp(product, x) == 0
  }
}

/// The tables of reused keys, by point. Reused keys are those of configured anchors and of document signers. Only good
/// signatures of trusted signers are counted.
final class VerificationTables: Sendable {
  static let shared = VerificationTables(slots: 32)
  /// The number of good signatures before a table is made. A table pays off after about a thousand verifications. A key
  /// with this many signatures is likely to reach that number.
  static let enough = 128
  /// The number of seconds without a signature after which a key loses its slot.
  static let idle: Int64 = 3_600
  /// Maximum number of keys to count.
  private static let capacity = 1_024

  private struct Use {
    var count = 0
    var last: Int64 = 0
    var table: VerificationTable?
    var isMaking = false
    /// True for the key of a configured anchor, set by `prepare`.
    var isPrepared = false

    var hasTable: Bool { table != nil || isMaking }
    var isLasting: Bool { hasTable || isPrepared }
  }

  private let uses = Locked<[[UInt8]: Use]>([:])
  private let slots: Int
  private let clock: @Sendable () -> Int64

  /// - Parameter clock: seconds since an arbitrary moment.
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

  /// Counts a signature. If a table must be made, reserves a slot and returns true.
  private func note(_ key: PublicKey, at now: Int64) -> Bool {
    uses.withLock { uses in
      if uses.count >= Self.capacity, uses[key.encoded] == nil { uses = uses.filter { $0.value.isLasting } }
      var use = uses[key.encoded] ?? Use()
      use.count += 1
      use.last = now
      // The search for a slot holds the lock. A key that gets no slot therefore searches again only after `enough` more
      // signatures, not at each one.
      let isDue =
        use.count.isMultiple(of: Self.enough) && !use.hasTable && VerificationTable.pays(for: key)
        && Self.freeSlot(in: &uses, of: slots, at: now)
      if isDue { use.isMaking = true }
      uses[key.encoded] = use
      return isDue
    }
  }

  private static func freeSlot(in uses: inout [[UInt8]: Use], of slots: Int, at now: Int64) -> Bool {
    let taken = uses.filter { $0.value.hasTable && !$0.value.isPrepared }
    if taken.count < slots { return true }
    guard let oldest = taken.filter({ !$0.value.isMaking }).min(by: { $0.value.last < $1.value.last }),
      now - oldest.value.last >= idle
    else { return false }
    uses[oldest.key] = nil
    return true
  }

  /// Makes the tables of configured keys on a background thread. At most `slots` configured keys get a table, the same
  /// limit as for other keys. Releases the tables of earlier configured keys that are not in `keys`.
  func prepare(_ keys: [PublicKey]) {
    let keys = Array(keys.filter(VerificationTable.pays).prefix(slots))
    let due = uses.withLock { uses in
      let points = Set(keys.map(\.encoded))
      uses = uses.filter { !$0.value.isPrepared || points.contains($0.key) }
      return keys.filter { key in
        var use = uses[key.encoded] ?? Use()
        let isDue = !use.hasTable
        use.isPrepared = true
        use.isMaking = use.isMaking || isDue
        uses[key.encoded] = use
        return isDue
      }
    }
    guard !due.isEmpty else { return }
    let isStarted = BackgroundThread.start("mdoc-table") {
      for key in due { self.finish(key, with: VerificationTable(key)) }
    }
    if !isStarted { for key in due { finish(key, with: nil) } }
  }

  private func finish(_ key: PublicKey, with table: VerificationTable?) {
    uses.withLock { uses in
      uses[key.encoded]?.isMaking = false
      uses[key.encoded]?.table = table
      // If memory runs out, the count begins again.
      if table == nil { uses[key.encoded]?.count = 0 }
    }
  }
}

extension PublicKey {
  /// Declares that the key is trusted and reused, which allows a table for cheaper verifications.
  package func expectReuse() { isReused.store(true, ordering: .relaxed) }

  /// Declares that these configured keys are trusted and reused. They replace the keys of earlier calls. Their tables
  /// are made at once, on a background thread.
  package static func expectReuse(of keys: [PublicKey]) {
    for key in keys { key.expectReuse() }
    VerificationTables.shared.prepare(keys)
  }
}
