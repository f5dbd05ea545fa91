import Base
import COpenSSL
import FoundationEssentials
import Synchronization

/// A checked public key of exact length. On Weierstrass curves it is a point on the curve, not infinity. On Edwards
/// curves it is not of small order. On Edwards and Montgomery curves any other string of the right length is a key (RFC
/// 8032, RFC 7748). A key that is not a point verifies no signature. Agreement with a key of small order fails.
public final class PublicKey: Sendable {
  public let curve: Curve
  /// Weierstrass curves: the uncompressed point `04‖x‖y`; others: the raw key.
  public let encoded: [UInt8]
  // Set once and never changed. OpenSSL counts references atomically, and its read operations on a key (verify, derive
  // as peer) may run in parallel.
  nonisolated(unsafe) package let pkey: OpaquePointer
  let verificationContexts: ContextPool
  /// True if `VerificationTables` may store a table for the key.
  let isReused = Atomic(false)

  /// The bytes before the point in the SubjectPublicKeyInfo of a P-256 key (RFC 5480, 2).
  public static let p256InfoPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Takes ownership of the key and its context.
  private init(curve: Curve, encoded: [UInt8], adopting key: ImportedKey) {
    self.curve = curve
    self.encoded = encoded
    pkey = key.pkey
    verificationContexts = ContextPool(key.verification)
  }

  /// Takes ownership of a key that was checked elsewhere.
  package convenience init(curve: Curve, encoded: [UInt8], adopting pkey: OpaquePointer) {
    self.init(curve: curve, encoded: encoded, adopting: ImportedKey(pkey: pkey))
  }

  deinit { KeyRecycler.giveBack(ImportedKey(pkey: pkey, verification: verificationContexts.take()), of: curve) }

  /// An uncompressed point `04‖x‖y` (SEC 1, 2.3.3), or the raw key of an Edwards or Montgomery curve.
  ///
  /// Refuses compressed, hybrid and infinity encodings, which OpenSSL accepts.
  public convenience init(curve: Curve, encoded: some Collection<UInt8>) throws(CryptoError) {
    let bytes = Array(encoded)
    guard curve.family == .weierstrass else {
      guard bytes.count == curve.coordinateLength, !SmallOrder.contains(bytes, on: curve),
        let pkey = EVP_PKEY_new_raw_public_key(curve.nid, nil, bytes, bytes.count)
      else {
        ERR_clear_error()
        throw .invalidPublicKey
      }
      self.init(curve: curve, encoded: bytes, adopting: ImportedKey(pkey: pkey))
      return
    }
    guard bytes.count == 1 + 2 * curve.coordinateLength, bytes[0] == 0x04 else { throw .invalidPublicKey }
    self.init(curve: curve, encoded: bytes, adopting: try importPoint(bytes, on: curve))
  }

  /// Affine coordinates, each exactly as long as the field.
  public convenience init(
    curve: Curve, x: some Collection<UInt8>, y: some Collection<UInt8>
  ) throws(CryptoError) {
    guard curve.family == .weierstrass, x.count == curve.coordinateLength, y.count == curve.coordinateLength else {
      throw .invalidPublicKey
    }
    var point: [UInt8] = []
    point.reserveCapacity(1 + 2 * curve.coordinateLength)
    point.append(0x04)
    // Converted to arrays: Swift appends other collections byte by byte in unspecialised code.
    point += Array(x)
    point += Array(y)
    self.init(curve: curve, encoded: point, adopting: try importPoint(point, on: curve))
  }

  /// A compressed point: x and the sign bit of y (RFC 9053, 7.1.1).
  public convenience init(curve: Curve, x: some Collection<UInt8>, yIsOdd: Bool) throws(CryptoError) {
    guard curve.family == .weierstrass, x.count == curve.coordinateLength else { throw .invalidPublicKey }
    let compressed = [yIsOdd ? 0x03 : 0x02] + Array(x)
    let key = try importPoint(compressed, on: curve)
    do {
      self.init(curve: curve, encoded: try uncompressedPoint(of: key.pkey, on: curve), adopting: key)
    } catch {
      key.free()
      throw error
    }
  }

  /// A key that OpenSSL has parsed, for example from a certificate. Only the named curves of `Curve` are accepted.
  package convenience init(referencing pkey: OpaquePointer) throws(CryptoError) {
    guard let curve = namedCurve(of: pkey) else { throw .unsupportedKey }
    let encoded = try curve.family == .weierstrass ? uncompressedPoint(of: pkey, on: curve) : rawPublicKey(of: pkey)
    // The key is imported again instead of shared with the parser, which also accepts compressed and unchecked points.
    try self.init(curve: curve, encoded: encoded)
  }

  /// SubjectPublicKeyInfo in DER (RFC 5280, 4.1.2.7; RFC 5480; RFC 8410), with an uncompressed point; nil if memory
  /// runs out.
  package var subjectPublicKeyInfo: [UInt8]? {
    let info = X509_PUBKEY_new()
    defer { X509_PUBKEY_free(info) }
    guard let bits = CRYPTO_malloc(encoded.count, nil, 0) else { return nil }
    bits.copyMemory(from: encoded, byteCount: encoded.count)
    let isPoint = curve.family == .weierstrass
    // On success the structure owns the bits; the object identifiers are static.
    guard
      X509_PUBKEY_set0_param(
        info, OBJ_nid2obj(isPoint ? NID_X9_62_id_ecPublicKey : curve.nid), isPoint ? V_ASN1_OBJECT : V_ASN1_UNDEF,
        isPoint ? UnsafeMutableRawPointer(OBJ_nid2obj(curve.nid)) : nil,
        bits.assumingMemoryBound(to: UInt8.self), Int32(encoded.count)) == 1
    else {
      CRYPTO_free(bits, nil, 0)
      return nil
    }
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509_PUBKEY(info, &output)
    guard length > 0, let output else { return nil }
    defer { CRYPTO_free(output, nil, 0) }
    return Array(UnsafeBufferPointer(start: output, count: Int(length)))
  }

  /// The affine coordinates of a point on a Weierstrass curve.
  public var coordinates: (x: ArraySlice<UInt8>, y: ArraySlice<UInt8>)? {
    guard curve.family == .weierstrass else { return nil }
    return (encoded[1..<(1 + curve.coordinateLength)], encoded[(1 + curve.coordinateLength)...])
  }
}

extension PublicKey: Equatable {
  public static func == (left: PublicKey, right: PublicKey) -> Bool {
    left.curve == right.curve && left.encoded == right.encoded
  }
}

/// OpenSSL's key and, if present, its verification context.
private struct ImportedKey {
  let pkey: OpaquePointer
  var verification: OpaquePointer?

  func free() {
    EVP_PKEY_CTX_free(verification)
    EVP_PKEY_free(pkey)
  }
}

/// Imports a point through a template key with the curve's parameters. Making the parameters each time costs four times
/// as much. OpenSSL checks that the point is on the curve.
private func importPoint(_ point: [UInt8], on curve: Curve) throws(CryptoError) -> ImportedKey {
  guard let key = KeyRecycler.take(for: curve) ?? keyWithParameters(of: curve).map({ ImportedKey(pkey: $0) }) else {
    throw .libraryFailure
  }
  guard EVP_PKEY_set1_encoded_public_key(key.pkey, point, point.count) == 1 else {
    key.free()
    ERR_clear_error()
    throw .invalidPublicKey
  }
  return key
}

private func keyWithParameters(of curve: Curve) -> OpaquePointer? {
  guard let template = KeyTemplates.template(for: curve), let pkey = EVP_PKEY_new() else { return nil }
  guard EVP_PKEY_copy_parameters(pkey, template) == 1 else {
    EVP_PKEY_free(pkey)
    return nil
  }
  return pkey
}

/// Stores unused P-256 keys for reuse with another point. Making a key is two thirds of the cost of an import. Every
/// response has two new points.
///
/// A key keeps its verification context, since the context reads the key's point at each verification.
private enum KeyRecycler {
  private static let capacity = 64
  private static let keys = Locked<[SendableKey]>([])

  // A key in the list gets exactly one new owner. Its `PublicKey` no longer exists. Its verification context is in the
  // list too. Other contexts may still refer to the key: contexts about to be freed, and idle contexts for agreements
  // (`sharedSecret(with:)`). They do not read the key, and OpenSSL counts references atomically.
  private struct SendableKey: @unchecked Sendable { let key: ImportedKey }

  static func take(for curve: Curve) -> ImportedKey? {
    curve == .p256 ? keys.withLock { $0.popLast() }?.key : nil
  }

  static func giveBack(_ key: ImportedKey, of curve: Curve) {
    let returned = SendableKey(key: key)
    let isKept =
      curve == .p256
      && keys.withLock { keys in
        guard keys.count < capacity else { return false }
        keys.append(returned)
        return true
      }
    if !isKept { key.free() }
  }
}

private func uncompressedPoint(of pkey: OpaquePointer, on curve: Curve) throws(CryptoError) -> [UInt8] {
  guard let x = coordinate("qx", of: pkey, length: curve.coordinateLength),
    let y = coordinate("qy", of: pkey, length: curve.coordinateLength)
  else { throw .invalidPublicKey }
  return [0x04] + x + y
}

private func coordinate(_ name: String, of pkey: OpaquePointer, length: Int) -> [UInt8]? {
  var number: OpaquePointer?
  guard EVP_PKEY_get_bn_param(pkey, name, &number) == 1, let number else { return nil }
  defer { BN_free(number) }
  var output = [UInt8](repeating: 0, count: length)
  return BN_bn2binpad(number, &output, Int32(length)) == Int32(length) ? output : nil
}

private func rawPublicKey(of pkey: OpaquePointer) throws(CryptoError) -> [UInt8] {
  var length = 64
  var output = [UInt8](repeating: 0, count: length)
  guard EVP_PKEY_get_raw_public_key(pkey, &output, &length) == 1 else { throw .invalidPublicKey }
  return Array(output[..<length])
}

/// The curve of a parsed key; nil for RSA, unnamed (explicit) parameters and unsupported curves.
func namedCurve(of pkey: OpaquePointer) -> Curve? {
  switch EVP_PKEY_get_base_id(pkey) {
  case NID_ED25519: return .ed25519
  case NID_ED448: return .ed448
  case NID_X25519: return .x25519
  case NID_X448: return .x448
  case NID_X9_62_id_ecPublicKey:
    // Explicit parameters are not allowed, although OpenSSL recognises a known curve in them.
    var explicit: Int32 = 0
    if EVP_PKEY_get_int_param(pkey, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit) == 1, explicit != 0 {
      return nil
    }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(pkey, &name, name.count, &length) == 1 else { return nil }
    return Curve(nid: OBJ_sn2nid(name))
  default: return nil
  }
}

/// One template key per curve, from which parameters are copied. Threads may share them: they are never freed and never
/// changed.
private enum KeyTemplates {
  nonisolated(unsafe) private static let keys: [Curve: OpaquePointer] = {  // proof above
    var keys: [Curve: OpaquePointer] = [:]
    for curve in Curve.allCases where curve.family == .weierstrass {
      keys[curve] = generate(by: EVP_PKEY_CTX_new_id(NID_X9_62_id_ecPublicKey, nil), groupID: curve.nid)
    }
    return keys
  }()
  // Avoids looking up the most common curve.
  nonisolated(unsafe) private static let p256 = keys[.p256]  // proof above

  static func template(for curve: Curve) -> OpaquePointer? { curve == .p256 ? p256 : keys[curve] }
}

/// A fresh key pair, with the parameters of the curve's template.
func generate(on curve: Curve) -> OpaquePointer? {
  guard curve.family == .weierstrass else { return generate(by: EVP_PKEY_CTX_new_id(curve.nid, nil)) }
  return KeyTemplates.template(for: curve).flatMap { generate(by: EVP_PKEY_CTX_new($0, nil)) }
}

/// Takes ownership of the context.
private func generate(by context: OpaquePointer?, groupID: Int32? = nil) -> OpaquePointer? {
  guard let context else { return nil }
  defer { EVP_PKEY_CTX_free(context) }
  var pkey: OpaquePointer?
  guard EVP_PKEY_keygen_init(context) == 1,
    groupID.map({ EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, $0) == 1 }) ?? true,
    EVP_PKEY_keygen(context, &pkey) == 1
  else { return nil }
  return pkey
}
