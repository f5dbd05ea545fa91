import COpenSSL
import FoundationEssentials

/// A private key with its public half. OpenSSL holds the secret and wipes it with the last reference, unless a
/// `HeldKey` holds it elsewhere. Nothing here prints or compares the secret.
public final class PrivateKey: Sendable {
  public let publicKey: PublicKey
  /// The holder of the secret; nil if the secret is in this process. For a held key, `pkey` contains only the public
  /// half.
  public let held: (any HeldKey)?
  // Set once and never changed. OpenSSL allows several threads to sign and derive with one key.
  nonisolated(unsafe) package let pkey: OpaquePointer
  let derivationContexts = ContextPool()

  public var curve: Curve { publicKey.curve }

  /// Takes ownership of the pair's `pkey`. Reads the public half from `pkey` unless the pair contains the encoded
  /// point.
  private init(adopting pair: KeyPair) throws(CryptoError) {
    pkey = pair.pkey
    held = nil
    do throws(CryptoError) {
      publicKey =
        try pair.point.isEmpty
        ? PublicKey(referencing: pkey) : PublicKey(curve: pair.curve, encoded: pair.point)
    } catch {
      EVP_PKEY_free(pkey)
      throw error
    }
  }

  /// A key that OpenSSL has decoded. The caller keeps its own reference.
  convenience init(referencing pkey: OpaquePointer, on curve: Curve) throws(CryptoError) {
    EVP_PKEY_up_ref(pkey)
    try self.init(adopting: KeyPair(curve: curve, pkey: pkey))
  }

  /// A key whose private half never enters this process.
  public init(_ held: any HeldKey) {
    publicKey = held.publicKey
    pkey = publicKey.pkey
    EVP_PKEY_up_ref(pkey)
    self.held = held
  }

  deinit { EVP_PKEY_free(pkey) }

  public convenience init(generatingOn curve: Curve) throws(CryptoError) {
    guard let pkey = generate(on: curve) else { throw .libraryFailure }
    try self.init(adopting: KeyPair(curve: curve, pkey: pkey))
  }

  /// A key from its scalar (big-endian, as long as the field), or from the raw key of an Edwards or Montgomery curve.
  public convenience init(curve: Curve, scalar: some ContiguousBytes) throws(CryptoError) {
    var pair: KeyPair?
    scalar.withUnsafeBytes { pair = try? KeyPair(curve, scalar: $0) }
    guard let pair else { throw .invalidPrivateKey }
    try self.init(adopting: pair)
  }

  /// An unencrypted private key in PEM: PKCS #8 or SEC 1. The scalar must be in range and match the public half.
  /// - Throws: `passphraseRequired` for an encrypted key; `unsupportedKey` for a key that is not on a named curve,
  ///   before any computation.
  public convenience init(pem: some ContiguousBytes) throws(CryptoError) {
    try self.init(adopting: try PrivateKeyPEM.read(pem, nil))
  }

  /// A private key in PEM that may be encrypted (RFC 5958, 3; PKCS #5, RFC 8018).
  /// - Throws: `passphraseWrong` if the passphrase does not decrypt the key, or the key is damaged;
  ///   `passphraseTooCostly` if decrypting demands more work than `Limits` allows.
  public convenience init(pem: some ContiguousBytes, passphrase: borrowing SecretBytes) throws(CryptoError) {
    let pair = try passphrase.withUnsafeBytes { bytes throws(CryptoError) in try PrivateKeyPEM.read(pem, bytes) }
    try self.init(adopting: pair)
  }

  /// Unencrypted PKCS #8 in PEM. Fails for a key that is held elsewhere.
  public func pem() throws(CryptoError) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_secmem()) else { throw .libraryFailure }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PKCS8PrivateKey(bio, pkey, nil, nil, 0, nil, nil) == 1 else { throw .libraryFailure }
    var data: UnsafeMutablePointer<CChar>?
    let length = mdoc_BIO_get_mem_data(bio, &data)
    guard let data else { throw .libraryFailure }
    return UnsafeRawBufferPointer(start: data, count: length).map { $0 }
  }

  /// The scalar or raw private key, for encrypting a fresh session key at rest. Fails for a key that is held elsewhere.
  public func scalar() throws(CryptoError) -> SecretBytes {
    let length = curve.coordinateLength
    guard curve.family == .weierstrass else {
      return try SecretBytes(count: length) { buffer throws(CryptoError) in
        var written = length
        guard EVP_PKEY_get_raw_private_key(pkey, buffer.octets, &written) == 1 else { throw .libraryFailure }
      }
    }
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(pkey, "priv", &number) == 1, let number else { throw .libraryFailure }
    defer { BN_clear_free(number) }
    return try SecretBytes(count: length) { buffer throws(CryptoError) in
      guard BN_bn2binpad(number, buffer.octets, Int32(length)) == length else { throw .libraryFailure }
    }
  }
}

/// OpenSSL's form of a private key, which the caller must free.
struct KeyPair {
  let curve: Curve
  let pkey: OpaquePointer
  /// The uncompressed public point; empty if it has not been read from the key.
  var point: [UInt8] = []
}

extension KeyPair {
  /// On Weierstrass curves, the scalar must be as long as the field, at least 1 and below the order. On other curves
  /// any raw key is accepted.
  init(_ curve: Curve, scalar: UnsafeRawBufferPointer) throws(CryptoError) {
    let pair =
      curve.family == .weierstrass
      ? Self.pair(curve, scalar: scalar)
      : EVP_PKEY_new_raw_private_key(curve.nid, nil, scalar.octets, scalar.count).map {
        KeyPair(curve: curve, pkey: $0)
      }
    guard let pair else {
      ERR_clear_error()
      throw .invalidPrivateKey
    }
    self = pair
  }

  /// The key pair of a scalar, with the computed public point.
  private static func pair(_ curve: Curve, scalar: UnsafeRawBufferPointer) -> KeyPair? {
    guard scalar.count == curve.coordinateLength, let group = CurveGroups.all[curve],
      let point = EC_POINT_new(group), let secret = BN_bin2bn(scalar.octets, Int32(scalar.count), nil)
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

/// OpenSSL's groups for the Weierstrass curves. Threads may share them: they are made once, never freed and never
/// changed.
private enum CurveGroups {
  nonisolated(unsafe) static let all: [Curve: OpaquePointer] = {  // proof above
    var groups: [Curve: OpaquePointer] = [:]
    for curve in Curve.allCases where curve.family == .weierstrass {
      groups[curve] = EC_GROUP_new_by_curve_name(curve.nid)
    }
    return groups
  }()
}
