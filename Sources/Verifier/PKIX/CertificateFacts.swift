import Base
import COpenSSL
import Cryptography

/// The facts that are read once out of OpenSSL's parsed certificate.
struct CertificateFacts {
  let subject: DistinguishedName
  let issuer: DistinguishedName
  let validity: ClosedRange<Timestamp>
  let serialNumber: [UInt8]
  let hasNegativeSerialNumber: Bool
  let publicKey: PublicKey?
  let hasSupportedSignatureAlgorithm: Bool
  let extensions: CertificateExtensions

  init(_ x509: OpaquePointer) throws(CertificateError) {
    guard let subject = distinguishedName(X509_get_subject_name(x509)),
      let issuer = distinguishedName(X509_get_issuer_name(x509)), let serial = X509_get0_serialNumber(x509),
      let serialNumber = serialNumberOctets(serial)
    else { throw .malformedField }
    guard let notBefore = timestamp(X509_get0_notBefore(x509)), let notAfter = timestamp(X509_get0_notAfter(x509)),
      notBefore <= notAfter
    else { throw .malformedValidity }
    self.subject = subject
    self.issuer = issuer
    self.serialNumber = serialNumber
    hasNegativeSerialNumber = ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER
    extensions = try CertificateExtensions(x509)
    validity = notBefore...notAfter
    publicKey = SubjectPublicKey.key(of: x509)
    hasSupportedSignatureAlgorithm = CertificateSignature.Algorithm(nid: X509_get_signature_nid(x509)) != nil
  }
}

func distinguishedName(_ name: OpaquePointer?) -> DistinguishedName? {
  guard let name else { return nil }
  var start: UnsafePointer<UInt8>?
  var length = 0
  guard X509_NAME_get0_der(name, &start, &length) == 1, let start else { return nil }
  return DistinguishedName(
    der: Array(UnsafeBufferPointer(start: start, count: length)),
    country: attribute(NID_countryName, of: name), stateOrProvince: attribute(NID_stateOrProvinceName, of: name),
    organization: attribute(NID_organizationName, of: name),
    organizationalUnit: attribute(NID_organizationalUnitName, of: name),
    commonName: attribute(NID_commonName, of: name), userID: attribute(NID_userId, of: name),
    organizationIdentifier: attribute(NID_organizationIdentifier, of: name))
}

/// The first value of an attribute, as UTF-8.
private func attribute(_ nid: Int32, of name: OpaquePointer) -> String? {
  let index = X509_NAME_get_index_by_NID(name, nid, -1)
  guard index >= 0, let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
  var text: UnsafeMutablePointer<UInt8>?
  let length = ASN1_STRING_to_UTF8(&text, data)
  guard length >= 0, let text else { return nil }
  defer { CRYPTO_free(text, nil, 0) }
  return String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
}

/// The content octets of a serial number as they are written, without leading zeros. OpenSSL keeps only the magnitude
/// of a negative number, so its octets are encoded anew.
func serialNumberOctets(_ number: UnsafePointer<ASN1_INTEGER>) -> [UInt8]? {
  guard ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER else { return octets(number) }
  var output: UnsafeMutablePointer<UInt8>?
  let length = i2d_ASN1_INTEGER(number, &output)
  guard length > 0, let output else { return nil }
  defer { CRYPTO_free(output, nil, 0) }
  var content: UnsafePointer<UInt8>? = UnsafePointer(output)
  var count = 0
  var tag: Int32 = 0
  var tagClass: Int32 = 0
  // The result is a set of flags: 0x80 means an error.
  guard ASN1_get_object(&content, &count, &tag, &tagClass, Int(length)) & 0x80 == 0, let content else { return nil }
  return Array(UnsafeBufferPointer(start: content, count: count))
}

func timestamp(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
  var fields = tm()
  guard let time, ASN1_TIME_to_tm(time, &fields) == 1,
    let date = FullDate(year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday))
  else { return nil }
  return Timestamp(
    date: date, hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
}

/// The key that a certificate certifies (RFC 5480; RFC 8410). We import it ourselves, from the bytes of the
/// certificate.
enum SubjectPublicKey {
  /// Nil for a key that is not on one of the standard's curves: RSA, curves by their parameters instead of their name,
  /// points that are not on the curve, hybrid points.
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
