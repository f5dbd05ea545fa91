import Base
import COpenSSL
import Cryptography

/// An X.509 certificate (RFC 5280), parsed by OpenSSL.
public final class Certificate: Sendable {
  public let der: [UInt8]
  /// SHA-256 of the whole certificate.
  public let sha256: [UInt8]
  /// The SHA-256 in hexadecimal.
  public let fingerprint: String
  public let subject: DistinguishedName
  public let issuer: DistinguishedName
  public let validity: ClosedRange<Timestamp>
  /// The content octets of the serial number's INTEGER, without leading zeros. Numbers are compared in this form.
  public let serialNumber: [UInt8]
  public let hasNegativeSerialNumber: Bool
  /// The public key; nil if it is not on a named curve of the standard.
  public let publicKey: PublicKey?
  public let extensions: CertificateExtensions
  /// The facts that only the rules of a profile examine.
  let facts: ProfileFacts
  /// The signature; nil if the algorithm is not supported, or if the certificate states two algorithms.
  private let signature: CertificateSignature?

  /// Parses exactly one DER certificate: no trailing bytes, every extension at most once and well-formed.
  public init(der: some Collection<UInt8>) throws(CertificateError) {
    let bytes = Array(der)
    guard bytes.count <= Limits.certificateBytes else { throw .tooLarge }
    defer { ERR_clear_error() }
    guard let x509 = parsedCertificate(bytes) else { throw .notDER }
    defer { X509_free(x509) }
    guard isEncoding(bytes, of: x509, i2d_X509) else { throw .notDER }
    guard let subject = distinguishedName(X509_get_subject_name(x509)),
      let issuer = distinguishedName(X509_get_issuer_name(x509)), let serial = X509_get0_serialNumber(x509),
      let serialNumber = serialNumberOctets(serial)
    else { throw .malformedField }
    guard let notBefore = timestamp(X509_get0_notBefore(x509)), let notAfter = timestamp(X509_get0_notAfter(x509)),
      notBefore <= notAfter
    else { throw .malformedValidity }
    extensions = try CertificateExtensions(x509)
    facts = ProfileFacts(x509)
    self.der = bytes
    sha256 = HashAlgorithm.sha256.hash(bytes)
    fingerprint = Hex.encode(sha256)
    self.subject = subject
    self.issuer = issuer
    validity = notBefore...notAfter
    self.serialNumber = serialNumber
    hasNegativeSerialNumber = ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER
    publicKey = SubjectPublicKey.key(of: x509)
    signature = CertificateSignature(x509, der: bytes)
  }

  public var hasSupportedSignatureAlgorithm: Bool { facts.signatureAlgorithm != nil }

  /// True if issuer and subject have the same name (RFC 5280, 3.2). The issuer may nevertheless be another authority.
  public var isSelfIssued: Bool { subject.der == issuer.der }

  /// True for a root: issuer and subject are the same, and the certificate's own key signed it. If the signature's
  /// algorithm is unsupported, name and key identifiers decide.
  public var isSelfSigned: Bool { chainsByName(to: self) && (isSigned(by: self) || !isVerifiable(by: self)) }

  /// True if the mock issuer issued it.
  public var isMock: Bool { extensions.oids.contains(MockCertificateMarker.oid) }

  /// The DER of an extension's value; nil if the certificate lacks the extension. Parses the certificate again.
  package func value(ofExtension oid: String) -> [UInt8]? {
    guard extensions.oids.contains(oid), let x509 = parsedCertificate(der) else { return nil }
    defer { X509_free(x509) }
    for index in 0..<X509_get_ext_count(x509) {
      let entry = X509_get_ext(x509, index)
      if dottedIdentifier(X509_EXTENSION_get_object(entry)) == oid { return X509_EXTENSION_get_data(entry).map(octets) }
    }
    return nil
  }

  /// True if the certificate's signature verifies with the issuer's key. Names are not compared.
  func isSigned(by issuer: Certificate) -> Bool {
    guard let key = issuer.publicKey, let signature else { return false }
    return signature.isValid(in: der, key: key)
  }
}

/// OpenSSL's representation of exactly one certificate. The caller must free it.
func parsedCertificate(_ bytes: [UInt8]) -> OpaquePointer? {
  parsed(bytes, into: X509_new_ex(ParsingContext.library, nil), d2i_X509, X509_free)
}

/// OpenSSL's representation of exactly one object, without trailing bytes. The caller must free it.
func parsed(
  _ bytes: [UInt8], into empty: OpaquePointer?,
  _ decode: (UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) ->
    OpaquePointer?,
  _ free: (OpaquePointer?) -> Void
) -> OpaquePointer? {
  bytes.withUnsafeBufferPointer { buffer in
    var object = empty
    var position = buffer.baseAddress
    // On failure, OpenSSL frees the object that it was given.
    guard object != nil, decode(&object, &position, buffer.count) != nil else { return nil }
    guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
      free(object)
      return nil
    }
    return object
  }
}

/// True if the bytes are the object's unique DER encoding. OpenSSL also reads BER. With long lengths and segmented
/// strings outside the signed part, anyone could make countless trusted certificates from one.
func isEncoding(
  _ bytes: [UInt8], of object: OpaquePointer,
  _ encode: (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) -> Bool {
  var output: UnsafeMutablePointer<UInt8>?
  let length = encode(object, &output)
  guard length >= 0, let output else { return false }
  defer { CRYPTO_free(output, nil, 0) }
  return UnsafeBufferPointer(start: output, count: Int(length)).elementsEqual(bytes)
}

/// The reason why bytes are not a usable certificate.
public struct CertificateError: Error, Sendable, Hashable {
  /// The fault, as the end of a sentence that begins with the certificate's name.
  public let detail: String

  private init(_ detail: String) { self.detail = detail }

  public static let tooLarge = CertificateError("is larger than \(Limits.certificateBytes) bytes")
  public static let notDER = CertificateError("is not valid DER")
  public static let malformedField = CertificateError("has an unreadable name or serial number")
  public static let malformedValidity = CertificateError("has no dates of validity, or ends before it begins")

  public static func repeatedExtension(_ oid: String) -> CertificateError {
    CertificateError("has a duplicate extension: \(CertificateExtensions.OID.name(oid))")
  }

  public static func malformedExtension(_ oid: String) -> CertificateError {
    CertificateError("has a malformed extension: \(CertificateExtensions.OID.name(oid))")
  }
}

/// A name: its encoding, which is compared, and some of its attributes.
public struct DistinguishedName: Sendable, Hashable {
  public let der: [UInt8]
  public let country: String?
  public let stateOrProvince: String?
  public let organization: String?
  public let organizationalUnit: String?
  public let commonName: String?
  /// UID, 0.9.2342.19200300.100.1.1 (RFC 4519, 2.39).
  public let userID: String?
  /// 2.5.4.97: a semantics identifier (ETSI EN 319 412-1, 5.1.4), such as `VATES-B12345678`.
  public let organizationIdentifier: String?
}

/// An OpenSSL library context without algorithms. In this context, OpenSSL does not decode a certificate's key while
/// parsing. Decoding would take locks, and cost ten times as much as all other parsing. `SubjectPublicKey` imports the
/// key instead.
enum ParsingContext {
  // It is written once and never freed. Any thread may use OpenSSL's library contexts.
  nonisolated(unsafe) static let library: OpaquePointer? = {  // proof above
    let library = OSSL_LIB_CTX_new()
    // Without any provider OpenSSL would load the default one at the first use.
    return OSSL_PROVIDER_load(library, "null") == nil ? nil : library
  }()
}

/// The textual encoding of certificates (RFC 7468).
public enum PEM {
  /// The DER of every `CERTIFICATE` block, in order. Nil if a block lacks its begin or end line, or is not base64.
  public static func certificates(in text: String) -> [[UInt8]]? {
    var certificates: [[UInt8]] = []
    var base64: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.filter { !$0.isWhitespace || $0 == " " }
      switch (String(line.reversed().drop { $0 == " " }.reversed()), base64) {
      case ("-----BEGIN CERTIFICATE-----", nil): base64 = ""
      case ("-----END CERTIFICATE-----", let block?):
        guard let der = Base64.decode(block) else { return nil }
        certificates.append(der)
        base64 = nil
      case (let content, let block?): base64 = block + content
      // The block's first line was not recognised, for example because of a byte order mark or a typing mistake.
      case ("-----END CERTIFICATE-----", nil): return nil
      case (_, nil): continue
      }
    }
    return base64 == nil ? certificates : nil
  }

  public static func encode(certificate der: [UInt8]) -> String { encode(der, as: "CERTIFICATE") }

  /// The encoding of a certification request.
  package static func encode(request der: [UInt8]) -> String { encode(der, as: "CERTIFICATE REQUEST") }

  private static func encode(_ der: [UInt8], as label: String) -> String {
    let base64 = Array(Base64.encode(der).utf8)
    var text = "-----BEGIN \(label)-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END \(label)-----\n"
  }
}

// Reads single fields of certificates and revocation lists.

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

private func attribute(_ nid: Int32, of name: OpaquePointer) -> String? {
  let index = X509_NAME_get_index_by_NID(name, nid, -1)
  guard index >= 0, let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
  var text: UnsafeMutablePointer<UInt8>?
  let length = ASN1_STRING_to_UTF8(&text, data)
  guard length >= 0, let text else { return nil }
  defer { CRYPTO_free(text, nil, 0) }
  return String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
}

/// The content octets of a serial number, without leading zeros. OpenSSL stores only the magnitude of a negative
/// number, so the octets are encoded again.
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

/// The certified public key (RFC 5480; RFC 8410), imported from the certificate's bytes.
enum SubjectPublicKey {
  /// Nil for a key outside the standard's curves: RSA, explicit parameters, hybrid or wrong points.
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
