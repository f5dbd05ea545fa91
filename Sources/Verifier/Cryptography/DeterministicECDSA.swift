import COpenSSL
import FoundationEssentials

extension PrivateKey {
  /// An ECDSA signature with the deterministic nonce of RFC 6979, so that one seed always gives the same test
  /// documents. OpenSSL signs with the nonce that is derived here.
  public func signDeterministically(_ message: some ContiguousBytes, hash: HashAlgorithm) throws(CryptoError) -> [UInt8]
  {
    guard curve.family == .weierstrass else { return try signEdDSA(message) }
    let digest = hash.hash(message)
    guard let key = EVP_PKEY_get1_EC_KEY(pkey) else { throw .unsupportedKey }
    defer { EC_KEY_free(key) }
    guard let group = EC_KEY_get0_group(key), let order = EC_GROUP_get0_order(group) else { throw .libraryFailure }
    var nonces = DeterministicNonces(order: order, key: try scalar(), digest: digest, hash: hash)
    while let nonce = try nonces.next() {
      defer { BN_clear_free(nonce) }
      if let pair = Self.sign(digest, nonce: nonce, key: key, group: group, order: order) {
        defer { ECDSA_SIG_free(pair) }
        return try rawSignature(pair, half: curve.coordinateLength)
      }
    }
    throw .libraryFailure
  }

  /// Signs a digest with the given nonce. Nil if the nonce gives r = 0 or s = 0.
  private static func sign(
    _ digest: [UInt8], nonce: OpaquePointer, key: OpaquePointer, group: OpaquePointer, order: OpaquePointer
  ) -> OpaquePointer? {
    guard let context = BN_CTX_new(), let point = EC_POINT_new(group), let r = BN_new() else { return nil }
    defer {
      BN_CTX_free(context)
      EC_POINT_free(point)
      BN_free(r)
    }
    guard EC_POINT_mul(group, point, nonce, nil, nil, context) == 1,
      EC_POINT_get_affine_coordinates(group, point, r, nil, context) == 1,
      BN_nnmod(r, r, order, context) == 1, BN_is_zero(r) == 0,
      let inverse = BN_mod_inverse(nil, nonce, order, context)
    else { return nil }
    defer { BN_clear_free(inverse) }
    return ECDSA_do_sign_ex(digest, Int32(digest.count), inverse, r, key)
  }
}

/// The candidates for k (RFC 6979, 3.2).
private struct DeterministicNonces: ~Copyable {
  private let order: OpaquePointer
  private let hash: HashAlgorithm
  private var key: [UInt8]
  private var value: [UInt8]
  private var isFirst = true

  init(order: OpaquePointer, key scalar: borrowing SecretBytes, digest: [UInt8], hash: HashAlgorithm) {
    self.order = order
    self.hash = hash
    key = [UInt8](repeating: 0x00, count: hash.digestLength)
    value = [UInt8](repeating: 0x01, count: hash.digestLength)
    let length = (Int(BN_num_bits(order)) + 7) / 8
    // The field and the order of these curves have the same length.
    let seed = scalar.exposed().suffix(length) + bits2octets(digest, length: length)
    for separator: UInt8 in [0x00, 0x01] {
      key = mac(value + [separator] + seed)
      value = mac(value)
    }
  }

  mutating func next() throws(CryptoError) -> OpaquePointer? {
    while true {
      if !isFirst {
        key = mac(value + [0x00])
        value = mac(value)
      }
      isFirst = false
      let bits = Int(BN_num_bits(order))
      var candidate: [UInt8] = []
      while candidate.count * 8 < bits {
        value = mac(value)
        candidate += value
      }
      guard let number = bits2int(candidate) else { throw .libraryFailure }
      if BN_is_zero(number) == 0, BN_cmp(number, order) < 0 { return number }
      BN_clear_free(number)
    }
  }

  private func mac(_ message: [UInt8]) -> [UInt8] {
    HMAC.authenticate(message, key: SecretBytes(copying: key), hash: hash)
  }

  /// The leftmost bits of the octets, as many as the order has.
  private func bits2int(_ octets: [UInt8]) -> OpaquePointer? {
    guard let number = BN_bin2bn(octets, Int32(octets.count), nil) else { return nil }
    let excess = octets.count * 8 - Int(BN_num_bits(order))
    if excess > 0 { BN_rshift(number, number, Int32(excess)) }
    return number
  }

  private func bits2octets(_ digest: [UInt8], length: Int) -> [UInt8] {
    guard let number = bits2int(digest) else { return [] }
    defer { BN_clear_free(number) }
    if BN_cmp(number, order) >= 0 { BN_sub(number, number, order) }
    var octets = [UInt8](repeating: 0, count: length)
    BN_bn2binpad(number, &octets, Int32(length))
    return octets
  }
}
