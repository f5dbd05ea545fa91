import Base
import Cryptography
import JOSE
import PKIX

extension ReaderVerifier {
  /// Checks a signed request object of OpenID4VP (RFC 9101): a compact JWS, or the general JSON serialization with
  /// several signers (OpenID4VP 1.0, A.3.2.2).
  /// - Parameter origin: the origin of the requesting page; nil for a redirect, or if it is not known.
  public func verify(requestObject text: [UInt8], origin: String?, at now: Timestamp) -> ReaderReport {
    var checks = CheckList(expecting: 6)
    let isCompact = Self.isCompact(text)
    guard let objects = Self.compactObjects(text), !objects.isEmpty,
      objects.count <= Limits.documents
    else {
      checks.failed(.readerRequestMalformed, "it is not a JWS")
      checks.notRun(.readerAuthMissing, .readerOriginMismatch, .readerAudience)
      return ReaderReport(kind: .requestObject, checks: checks.checks, signatures: [])
    }
    var signatures: [ReaderSignature] = []
    for (index, object) in objects.enumerated() {
      let path = isCompact ? "request" : "signatures[\(index)]"
      signatures.append(verify(object, namedInHeader: !isCompact, at: path, now))
    }
    // All signatures cover the same payload, so only the first copy is read.
    let payload = (try? CompactJWS(parsing: objects[0]))?.payload
    let claims = payload.flatMap { try? JSON(parsing: $0) }
    let isObject = claims?.object != nil
    checks.require(isObject, .readerRequestMalformed, "the payload is not a JSON object")
    checks.require(signatures.contains(where: \.isGood), .readerAuthMissing, "no signature is valid")
    if let claims, isObject {
      checkOrigin(claims, origin, &checks)
      let audiences = claims["aud"].map { $0.array ?? [$0] } ?? []
      checks.expect(audiences.contains("https://self-issued.me/v2"), .readerAudience, isStrict: isStrict)
    } else {
      checks.notRun(.readerOriginMismatch, .readerAudience)
    }
    return ReaderReport(kind: .requestObject, checks: checks.checks, signatures: signatures)
  }

  /// Each signature as a separate compact JWS; nil if the text is neither serialization.
  static func compactObjects(_ text: [UInt8]) -> [[UInt8]]? {
    guard !isCompact(text) else { return text.count(where: { $0 == UInt8(ascii: ".") }) == 2 ? [text] : nil }
    guard let json = try? JSON(parsing: text), let payload = json["payload"]?.string,
      let signatures = json["signatures"]?.array
    else { return nil }
    return signatures.map { signature in
      let parts = [signature["protected"]?.string ?? "", payload, signature["signature"]?.string ?? ""]
      return Array(parts.joined(separator: ".").utf8)
    }
  }

  /// Whether the text is no JSON object, the other serialization.
  static func isCompact(_ text: [UInt8]) -> Bool {
    text.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } != UInt8(ascii: "{")
  }

  private func verify(
    _ text: [UInt8], namedInHeader: Bool, at location: String, _ now: Timestamp
  ) -> ReaderSignature {
    var checks = CheckList(expecting: 8)
    guard let jws = parse(text, &checks),
      let chain = certificates((jws.header.certificateChain ?? []).map { $0[...] }, &checks), let leaf = chain.first
    else {
      checks.skipRest(of: Self.codes + [.readerClientMismatch])
      return ReaderSignature(location: location, certificates: [], checks: checks.checks)
    }
    let path = checkPath(chain, profileRejects: false, &checks, now)
    let verdict = leaf.publicKey.map { jws.verify(with: $0) } ?? .algorithmUnsupported
    note(
      isSupported: verdict != .algorithmUnsupported && verdict != .keyMismatch, isValid: verdict == .valid,
      algorithm: jws.header.algorithmName, leaf, &checks)
    checkClient(jws, namedInHeader: namedInHeader, leaf, &checks)
    return ReaderSignature(location: location, certificates: path, checks: checks.checks)
  }

  private func parse(_ text: [UInt8], _ checks: inout CheckList) -> CompactJWS? {
    do throws(JOSEError) {
      let jws = try CompactJWS(parsing: text)
      let type = "oauth-authz-req+jwt"
      checks.require(jws.header.type?.lowercased() == type, .readerAuthMalformed, "typ is not \(type)")
      return jws
    } catch {
      checks.failed(.readerAuthMalformed, "the JWS or its header is malformed: \(error)")
      return nil
    }
  }

  /// Checks the client identifier (OpenID4VP 1.0, 5.9.3). If there are several signers, each signer identifies itself
  /// in its header.
  private func checkClient(
    _ jws: CompactJWS, namedInHeader: Bool, _ leaf: Certificate, _ checks: inout CheckList
  ) {
    let claims = try? JSON(parsing: jws.payload)
    guard let name = (namedInHeader ? jws.header["client_id"] : claims?["client_id"])?.string else {
      return checks.failed(.readerClientMismatch, "client_id is missing")
    }
    let client = ClientName(name, of: namedInHeader ? nil : claims)
    let identifier = client.name
    switch client.prefix {
    case "x509_hash":
      checks.require(
        identifier.hasSameBytes(as: Base64.encodeURLSafe(leaf.sha256)), .readerClientMismatch,
        "x509_hash is not the certificate's SHA-256")
    case "x509_san_dns":
      let isNamed = leaf.dnsNames.contains { $0.lowercased().hasSameBytes(as: identifier.lowercased()) }
      checks.require(isNamed, .readerClientMismatch, "x509_san_dns is not a dNSName of the certificate")
    case nil: checks.failed(.readerClientMismatch, "client_id has no prefix")
    default: checks.failed(.readerClientMismatch, "a certificate does not prove a client_id with this prefix")
    }
  }

  /// OpenID4VP 1.0, A.2: a signed request over the Digital Credentials API lists its permitted origins.
  private func checkOrigin(_ claims: JSON, _ origin: String?, _ checks: inout CheckList) {
    let code = Code.readerOriginMismatch
    guard ["dc_api", "dc_api.jwt"].contains(claims["response_mode"]?.string) else { return checks.notRun(code) }
    guard let expected = claims["expected_origins"]?.array, !expected.isEmpty else {
      return checks.failed(code, "expected_origins is missing")
    }
    guard let origin else { return checks.notRun(code, "the page's origin is not given") }
    checks.require(expected.contains { $0.string?.hasSameBytes(as: origin) ?? false }, code)
  }
}

/// The result of checking a reader's request: the checks of the request, and of each signature in it.
public struct ReaderReport: Sendable {
  public enum Kind: String, Sendable {
    case deviceRequest = "device_request"
    case requestObject = "request_object"
  }

  public let kind: Kind
  /// The checks of the request as a whole.
  public let checks: [Check]
  public let signatures: [ReaderSignature]

  /// Whether a wallet with these roots accepts the reader. A trusted reader must have signed every part, and no
  /// signature may be broken. An additional signature by a reader that this wallet does not know is harmless.
  public var isAuthenticated: Bool {
    !checks.contains { $0.outcome == .failed } && !signatures.contains(where: \.isBroken)
  }
}

/// One signature of a reader.
public struct ReaderSignature: Sendable {
  /// The path of the signature, such as `docRequests[0].readerAuth`.
  public let location: String
  /// The readable certificates, the reader's own first. If a root was found, it is last.
  public let certificates: [Certificate]
  public let checks: [Check]

  var isGood: Bool { !checks.contains { $0.outcome == .failed } }

  /// Whether any check failed. Checks that fail for an unknown reader do not count.
  var isBroken: Bool {
    checks.contains { $0.outcome == .failed && ![.readerUntrusted, .readerCertificateProfile].contains($0.code) }
  }
}
