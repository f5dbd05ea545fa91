import COpenSSL

/// Multiples of a P-256 public key Q, computed once, that make each verification with that key cheaper.
///
/// ECDSA checks that u1·G + u2·Q has x-coordinate r (FIPS 186-5, 6.4.2). OpenSSL has a table for the generator G alone,
/// so u2·Q costs it three times what u1·G does. With a table for Q, which OpenSSL computes as for any other generator,
/// both cost the same. What is checked, and in which order, is as in OpenSSL's own verification; nothing here is secret.
/// It goes past OpenSSL's providers, so where only validated ones may run there is no table.
///
/// It takes 150 kB, and 35 ms of a processor once.
final class VerificationTable: Sendable {
  // Never changed after they are made, and OpenSSL's functions take them as constants.
  nonisolated(unsafe) private static let curve = EC_GROUP_new_by_curve_name(Curve.p256.nid)
  nonisolated(unsafe) private static let order = curve.flatMap { EC_GROUP_get0_order($0) }  // proof above
  /// The curve with Q in the place of G, and its table.
  nonisolated(unsafe) private let multiples: OpaquePointer  // proof above

  /// Whether this key can have one that pays: on P-256, and where OpenSSL has code of its own for that curve.
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
    // The last of them is nil where any is.
    guard let u2 = BN_CTX_get(context) else { return false }
    let length = min(digest.count, Curve.p256.coordinateLength)  // the leftmost bits, as many as the order has
    guard BN_bin2bn(digest.baseAddress, Int32(length), u1) != nil, BN_mod_inverse(inverse, s, order, context) != nil,
      BN_mod_mul(u1, u1, inverse, order, context) == 1, BN_mod_mul(u2, r, inverse, order, context) == 1,
      let x = sum(u1, u2, context), BN_nnmod(x, x, order, context) == 1
    else { return false }
    return BN_cmp(x, r) == 0
  }

  /// The x-coordinate of u1·G + u2·Q; nil where that is infinity.
  private func sum(_ u1: OpaquePointer?, _ u2: OpaquePointer, _ context: OpaquePointer) -> OpaquePointer? {
    guard let curve = Self.curve, let first = EC_POINT_new(curve) else { return nil }
    defer { EC_POINT_free(first) }
    guard let second = EC_POINT_new(multiples) else { return nil }
    defer { EC_POINT_free(second) }
    guard EC_POINT_mul(curve, first, u1, nil, nil, context) == 1,
      EC_POINT_mul(multiples, second, u2, nil, nil, context) == 1,
      // Where both are the same point, or each other's negative, it doubles or gives infinity.
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
