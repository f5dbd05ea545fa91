import COpenSSL

/// OpenSSL's form of a private key, which is the caller's to free, and what of it is known.
struct KeyPair {
  let curve: Curve
  let pkey: OpaquePointer
  /// The public point, uncompressed; empty where it is to be read out of the key.
  var point: [UInt8] = []
}

extension KeyPair {
  /// The scalar is as long as the field and from 1 to the order, exclusive; the raw key of other curves is any.
  init(_ curve: Curve, scalar: UnsafeRawBufferPointer) throws(CryptoError) {
    let bytes = scalar.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard curve.family == .weierstrass else {
      guard let pkey = EVP_PKEY_new_raw_private_key(curve.nid, nil, bytes, scalar.count) else {
        ERR_clear_error()
        throw .invalidPrivateKey
      }
      self.init(curve: curve, pkey: pkey)
      return
    }
    guard let pair = Self.pair(curve, scalar: scalar) else { throw .invalidPrivateKey }
    self = pair
  }

  /// The key pair of a scalar, and the public point that is computed from it.
  private static func pair(_ curve: Curve, scalar: UnsafeRawBufferPointer) -> KeyPair? {
    let bytes = scalar.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard scalar.count == curve.coordinateLength, let group = CurveGroups.all[curve],
      let point = EC_POINT_new(group), let secret = BN_bin2bn(bytes, Int32(scalar.count), nil)
    else { return nil }
    defer {
      EC_POINT_free(point)
      BN_clear_free(secret)
    }
    guard BN_is_zero(secret) == 0, BN_cmp(secret, EC_GROUP_get0_order(group)) < 0,
      EC_POINT_mul(group, point, secret, nil, nil, nil) == 1
    else { return nil }
    var encoded = [UInt8](repeating: 0, count: 1 + 2 * curve.coordinateLength)
    guard
      EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, encoded.count, nil) == encoded.count
    else { return nil }
    return mdoc_ec_key_pair(curve.groupName, secret, encoded, encoded.count)
      .map { KeyPair(curve: curve, pkey: $0, point: encoded) }
  }
}

/// The groups of the curves, made once. Never freed, never changed after they are made, so that threads may share them.
private enum CurveGroups {
  nonisolated(unsafe) static let all: [Curve: OpaquePointer] = {  // proof above
    var groups: [Curve: OpaquePointer] = [:]
    for curve in Curve.allCases where curve.family == .weierstrass {
      groups[curve] = EC_GROUP_new_by_curve_name(curve.nid)
    }
    return groups
  }()
}
