import Base
import CBOR
import COSE
import Cryptography
import JOSE
import Mdoc
import PKIX

/// A registration certificate of an EU relying party (WRPRC; ETSI TS 119 475 V1.2.1, 5.2): the data that the party may
/// request for one intended use. A registrar signs it as a compact JWS, `rc-wrp+jwt`, or as a COSE_Sign1, `rc-wrp+cwt`.
///
/// The key of its first certificate must have signed it. The caller decides whether that certificate belongs to a
/// registrar.
public struct RegistrationCertificate: Sendable {
  /// ASCII of the JWS, or the COSE_Sign1, in the form that the registrar issued: `euWrprc` of a DeviceRequest.
  public let encoded: [UInt8]
  /// The JWS for `verifier_info`; nil for a CWT, for which OpenID4VP has no member.
  public let compactJWS: String?
  /// The signer's certificate first.
  public let chain: [Certificate]
  /// The relying party's identifier (ETSI EN 319 412-1). `organizationIdentifier` of the party's reader
  /// certificate should equal it, or the intermediary's identifier.
  public let subject: String?
  /// The identifier of the intermediary that makes requests on the relying party's behalf.
  public let intermediary: String?
  public let intendedUseID: String?
  public let isServiceProvider: Bool
  /// The certificate's entry in a status list; nil if it has no list.
  public let status: StatusReference?
  /// The path from the signer to a known registrar; empty for any other signer. The status list of such a signer is not
  /// fetched.
  public var registrarPath: [Certificate] = []
  public let issuedAt: Timestamp?
  public let expiresAt: Timestamp?
  private let credentials: [JSON]

  /// Maximum number of bytes, since the certificate is sent with every request.
  public static let longestEncoding = 16 << 10

  /// Reads either form, and verifies its signature.
  public init(parsing bytes: [UInt8]) throws(RegistrationCertificateError) {
    guard bytes.count <= Self.longestEncoding else {
      throw .init("has more than \(Self.longestEncoding) bytes")
    }
    let isText = bytes.first == UInt8(ascii: "e")
    let (chain, claims) = isText ? try Self.open(jws: bytes) : try Self.open(cwt: bytes)
    encoded = bytes
    compactJWS = isText ? String(decoding: bytes, as: UTF8.self) : nil
    self.chain = chain
    subject = claims["sub"]?.string
    intermediary = claims["intermediary"]?["sub"]?.string ?? claims["act"]?["sub"]?.string
    intendedUseID = claims["intended_use_id"]?.string
    isServiceProvider = claims["entitlements"]?.array?.contains(Self.serviceProvider) ?? false
    let list = claims["status"]?["status_list"]
    let index = list?["idx"]?.integer.flatMap(UInt64.init(exactly:))
    status = index.flatMap { index in list?["uri"]?.string.map { StatusReference(.statusList(index: index), uri: $0) } }
    issuedAt = try Self.date("iat", in: claims)
    expiresAt = try Self.date("exp", in: claims)
    credentials = claims["credentials"]?.array ?? []
  }

  /// The question about its status; nil if it has no status list. A registrar may also publish the list as a JSON Web
  /// Token.
  public var statusQuestion: RevocationQuestion? {
    guard let status, !registrarPath.isEmpty else { return nil }
    return RevocationQuestion(.status(status), path: registrarPath, allowsJWT: true)
  }

  private static let serviceProvider: JSON = "https://uri.etsi.org/19475/Entitlement/Service_Provider"

  /// Whether any element of the document type is registered as `mso_mdoc`. A proof shows no more than a document, so
  /// the document's registration suffices for it.
  public func registers(_ docType: String) -> Bool { !paths(of: docType).isEmpty }

  /// Whether anything is registered as `mso_mdoc`.
  public var registersAnything: Bool {
    credentials.contains { credential in
      credential["meta"]?["doctype_value"]?.string.map { !paths(of: $0).isEmpty } ?? false
    }
  }

  /// Whether any entry of the document type has the path of the element or of its namespace.
  public func registers(_ element: ElementReference, of docType: String) -> Bool {
    paths(of: docType).contains { path in
      (1...2).contains(path.count)
        && zip(path, [element.namespace, element.identifier]).allSatisfy { $0.string?.hasSameBytes(as: $1) ?? false }
    }
  }

  private func paths(of docType: String) -> [[JSON]] {
    credentials.filter {
      $0["format"]?.string == "mso_mdoc" && $0["meta"]?["doctype_value"]?.string?.hasSameBytes(as: docType) == true
    }.flatMap { $0["claim"]?.array ?? [] }.compactMap { $0["path"]?.array }
  }

  private static func open(jws bytes: [UInt8]) throws(RegistrationCertificateError) -> ([Certificate], JSON) {
    let jws: CompactJWS
    do throws(JOSEError) {
      jws = try CompactJWS(parsing: bytes, understanding: ["iat", "sigT", JWSHeader.Name.unencodedPayload])
    } catch {
      throw error == .unsupportedCritical ? .unknownCritical : .unreadable
    }
    try requireType(jws.header.type, "rc-wrp+jwt")
    let chain = try signer(jws.header.certificateChain?.map { $0[...] }, "x5c") { jws.verify(with: $0) == .valid }
    guard let claims = try? JSON(parsing: jws.payload), claims.object != nil else { throw .unreadable }
    return (chain, claims)
  }

  /// The type and the chain count only if they are signed (ETSI TS 119 475, 5.2.3).
  private static func open(cwt bytes: [UInt8]) throws(RegistrationCertificateError) -> ([Certificate], JSON) {
    guard let item = try? CBORItem(parsing: bytes) else { throw .unreadable }
    let message: COSESign1
    do throws(COSEError) {
      message = try COSESign1(parsing: item, tag: item.tag == nil ? nil : COSESign1.tag)
    } catch {
      throw error == .unsupportedCritical ? .unknownCritical : .unreadable
    }
    let headers = message.headers
    try requireType(headers.protectedParameter(COSEHeaders.Label.type)?.text, "rc-wrp+cwt")
    guard let payload = message.payload, let content = payload.bytes,
      let claims = try? CBORItem(parsingContentOf: payload), claims.kind == .map
    else { throw .unreadable }
    let isProtected = headers.protectedParameter(COSEHeaders.Label.x5chain) != nil
    let chain = try signer(isProtected ? headers.x5chain : nil, "x5chain") {
      message.verify(payload: content, key: $0) == .valid
    }
    return (chain, json(claims, labels: registeredClaims))
  }

  private static func requireType(_ type: String?, _ expected: String) throws(RegistrationCertificateError) {
    guard type != expected else { return }
    let other = type == "rc-rp+jwt" ? ", which belongs to another profile (Germany's pilots)" : ""
    throw .init("has the type \(type ?? "(none)")\(other); \(expected) is needed (ETSI TS 119 475, 5.2)")
  }

  private static func signer(
    _ chain: [ArraySlice<UInt8>]?, _ name: String, isValid: (PublicKey) -> Bool
  ) throws(RegistrationCertificateError) -> [Certificate] {
    let read = (chain ?? []).prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
    guard let leaf = read.first, read.count == chain?.count else {
      throw .init("needs 1 to \(Limits.chainCertificates) certificates of its signer under \(name)")
    }
    guard leaf.publicKey.map(isValid) ?? false else {
      throw .init("is not signed by the first certificate of \(name), by ECDSA or EdDSA")
    }
    return read
  }

  private static func date(_ name: String, in claims: JSON) throws(RegistrationCertificateError) -> Timestamp? {
    guard let value = claims[name] else { return nil }
    // The permitted times: up to the end of the year 9999.
    guard let seconds = value.integer, (0...253_402_300_799).contains(seconds) else {
      throw .init("has no date in whole seconds under \(name)")
    }
    return Timestamp(secondsSince1970: seconds)
  }

  /// The claims' numbers: RFC 8392, 4, and Token Status List, 6.3. TS 119 475 assigns no numbers to its own claims.
  /// They appear by name.
  private static let registeredClaims: [Int64: String] = [2: "sub", 4: "exp", 6: "iat", 65_535: "status"]

  private static func json(_ item: CBORItem, labels: [Int64: String] = [:]) -> JSON {
    switch item.kind {
    case .text: .string(item.text ?? "")
    case .array: .array((item.elements.map { Array($0) } ?? []).map { json($0) })
    case .map:
      .object(
        (item.entries.map { Array($0) } ?? []).compactMap { key, value in
          (key.text ?? key.integer.flatMap { labels[$0] }).map { JSON.Member($0, json(value)) }
        })
    default: item.integer.map { .integer($0) } ?? .null
    }
  }
}

/// The reason why bytes are not a registration certificate.
public struct RegistrationCertificateError: Error, Sendable, Hashable {
  /// A predicate, to follow the file's name in a message.
  public let detail: String

  init(_ detail: String) { self.detail = detail }

  static let unreadable = Self("is neither a compact JWS nor a COSE_Sign1 with claims")
  static let unknownCritical = Self("has an unknown critical header parameter (crit)")
}
