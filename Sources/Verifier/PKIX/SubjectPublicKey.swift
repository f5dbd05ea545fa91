import COpenSSL
import Cryptography

/// The key that a certificate certifies (RFC 5480; RFC 8410), imported in our own way from the bytes that it is in.
enum SubjectPublicKey {
  /// Nil for what is no key of the standard's curves: RSA, curves by their parameters instead of their name, points that
  /// are not on the curve, hybrid points.
  static func key(of x509: OpaquePointer) -> PublicKey? {
    var algorithm: UnsafeMutablePointer<X509_ALGOR>?
    guard let info = X509_get_X509_PUBKEY(x509), let bits = X509_get0_pubkey_bitstr(x509),
      X509_PUBKEY_get0_param(nil, nil, nil, &algorithm, info) == 1, let algorithm,
      let bytes = wholeBytes(bits), let curve = curve(of: UnsafePointer(algorithm))
    else { return nil }
    if curve.family == .weierstrass, bytes.count == 1 + curve.coordinateLength, [0x02, 0x03].contains(bytes[0]) {
      return try? PublicKey(curve: curve, x: bytes.dropFirst(), yIsOdd: bytes[0] == 0x03)
    }
    return try? PublicKey(curve: curve, encoded: bytes)
  }

  /// `id-ecPublicKey` with a named curve, or an Edwards or Montgomery curve without parameters.
  private static func curve(of algorithm: UnsafePointer<X509_ALGOR>) -> Curve? {
    var object: OpaquePointer?
    var type: Int32 = 0
    var parameters: UnsafeRawPointer?
    X509_ALGOR_get0(&object, &type, &parameters, algorithm)
    let identifier = OBJ_obj2nid(object)
    if identifier == NID_X9_62_id_ecPublicKey {
      guard type == V_ASN1_OBJECT, let parameters,
        let curve = Curve(nid: OBJ_obj2nid(OpaquePointer(parameters))), curve.family == .weierstrass
      else { return nil }
      return curve
    }
    guard type == V_ASN1_UNDEF, let curve = Curve(nid: identifier), curve.family != .weierstrass else { return nil }
    return curve
  }
}
