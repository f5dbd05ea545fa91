import Base
import CBOR
import Cryptography
import Longfellow
import Mdoc
import PKCS11
import PKIX
import Sessions
import Trust

/// The binary content of a file: raw, in hexadecimal, or in base64 of either alphabet.
///
/// A DeviceResponse, an envelope and a transcript each begin with a byte outside ASCII, so they are never mistaken for
/// text. Text in any other encoding remains unchanged, and the parser refuses it.
struct WireBytes: Sendable {
  enum Encoding: String, Sendable { case raw, hex, base64 }

  let bytes: [UInt8]
  let encoding: Encoding

  init(_ file: [UInt8]) {
    let text = WireBytes.text(of: file)
    let candidates =
      [
        (text.flatMap { Hex.decode($0) }, Encoding.hex), (text.flatMap { Base64.decodeEither($0) }, .base64),
      ].compactMap { bytes, encoding in bytes.map { (bytes: $0, encoding: encoding) } } + [(file, .raw)]
    // The first encoding that gives well-formed CBOR is chosen. If none does, the first encoding is a reasonable guess.
    (bytes, encoding) =
      candidates.count > 1 ? candidates.first { WireBytes.isCBOR($0.bytes) } ?? candidates[0] : (file, .raw)
  }

  /// The text without white space; nil if the content is not ASCII text.
  private static func text(of file: [UInt8]) -> String? {
    let hasMark = file.starts(with: [0xef, 0xbb, 0xbf])
    let characters = file.dropFirst(hasMark ? 3 : 0).filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard !characters.isEmpty, characters.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    return String(decoding: characters, as: UTF8.self)
  }

  private static func isCBOR(_ bytes: [UInt8]) -> Bool {
    (try? CBORItem(parsing: bytes, limits: CBORLimits(bytes: FileAccess.limit))) != nil
  }
}

extension WireBytes {
  /// A wallet's response. Throws only if the path cannot be read. The content is checked later.
  static func response(at path: String) throws(Failure) -> [UInt8] {
    WireBytes(try FileAccess.readPrefix(path, purpose: "response")).bytes
  }
}

extension SessionTranscript {
  /// The transcript of the response's session. The transcript must come from the verifier, not from the wallet.
  static func inFile(_ path: String) throws(Failure) -> SessionTranscript {
    let file = WireBytes(try FileAccess.read(path, purpose: "transcript"))
    guard (try? CBORItem(parsing: file.bytes)) != nil else { throw .unreadable("transcript \(path): is not CBOR") }
    guard let transcript = try? SessionTranscript(received: file.bytes) else {
      throw .unreadable("transcript \(path): must be an array of device engagement, reader key and handover")
    }
    return transcript
  }
}

/// Input of options that several verbs share.
extension Arguments {
  /// The presentation request of `--request`; nil without the option. The argument is JSON if it begins with a brace or
  /// bracket, otherwise a file's path. The JSON is a request in the HTTP API's form, or a DCQL query.
  func request(
    for family: ProtocolFamily, over protocolName: String? = nil, circuits: CircuitLibrary? = nil,
    revocation: RevocationPolicy = .off
  ) throws(Failure) -> PresentationRequest? {
    guard let argument = value(.request) else { return nil }
    let isInline = ["{", "["].contains(argument.drop(while: \.isWhitespace).first)
    let source = isInline ? "--request" : "request \(argument)"
    let bytes = isInline ? Array(argument.utf8) : try FileAccess.read(argument, purpose: "request")
    func failure(_ problem: String) -> Failure {
      Failure(status: isInline ? .usage : .unreadable, message: "\(source): \(problem)")
    }
    let json: JSON
    do throws(JSON.SyntaxError) { json = try JSON(parsing: bytes) } catch { throw failure("\(error)") }
    do throws(ServiceError) {
      return try PresentationRequestDecoder(
        for: family, protocols: protocolName.map { [$0] } ?? [], circuits: circuits?.circuits ?? [],
        revocation: revocation
      ).decode(requestOrQuery: json)
    } catch {
      let faults = error.pointers.map { "\($0.pointer.isEmpty ? "it" : $0.pointer) \($0.detail)" }
      throw failure(faults.isEmpty ? error.detail : faults.joined(separator: "; "))
    }
  }

  /// Trust anchors. They apply to every document type unless their settings restrict them. Test anchors are also
  /// trusted, since the user lists each file.
  func trustStore() throws(Failure) -> TrustStore {
    let paths = values(.trust)
    let anchors = try readable("trust ") { try TrustAnchorLoader(defaultDocTypes: nil).load(paths) }
    guard let store = try? TrustStore(anchors: anchors, allowsTestCertificates: true) else {
      throw .unreadable(
        "trust \(paths.joined(separator: ", ")): has no certificates (.pem, .crt, .cer or .der in a folder)")
    }
    return store
  }

  func circuitLibrary() throws(Failure) -> CircuitLibrary? {
    guard let folder = value(.circuits) else { return nil }
    let library = try readable("circuits ") { try CircuitLibrary(folder: folder) }
    guard !library.circuits.isEmpty else {
      throw .unreadable("circuits \(folder): has no known circuit (mdoc circuits import)")
    }
    return library
  }
}

/// Reads keys from files, or finds them in tokens.
enum KeyFile {
  /// Reads a private key. The file contains unencrypted PEM (PKCS #8 or SEC 1), or a scalar on this curve in
  /// hexadecimal (as in Apple's sample) or base64url (as in the HTTP API). The path may also identify a key in a token.
  static func privateKey(
    _ path: String, on curve: Curve = .p256, for use: TokenKey.Use = .agreement
  ) throws(Failure) -> PrivateKey {
    if OpenToken.isName(path) {
      let token = try OpenToken(path)
      return try token.attempt { () throws(TokenError) in
        PrivateKey(try TokenKey(token.uri, in: token.module, pin: token.pin, for: use))
      }
    }
    let bytes = try FileAccess.read(path, purpose: "key")
    if let key = try? PrivateKey(pem: bytes) { return key }
    let text = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    for case let scalar? in [Hex.decode(text), Base64.decodeURLSafe(text)] {
      if let key = try? PrivateKey(curve: curve, scalar: scalar) { return key }
    }
    throw .unreadable(
      "key \(path): must be an unencrypted private key in PEM, or a scalar on \(curve.rawValue) in hexadecimal or "
        + "base64url"
    )
  }

  /// P-256 private keys to which Apple's in-app responses can be encrypted. Throws if a key is on another curve.
  static func encryptionKeys(_ paths: [String]) throws(Failure) -> [PrivateKey] {
    var keys: [PrivateKey] = []
    for path in paths {
      let key = try privateKey(path)
      try requireP256(key.curve, path)
      keys.append(key)
    }
    return keys
  }

  static func requireP256(_ curve: Curve, _ path: String) throws(Failure) {
    guard curve == .p256 else {
      throw .unreadable("key \(path): must be on P-256 for Apple, not \(curve.rawValue)")
    }
  }

  /// A key of 32 bytes, as `mdoc keys generate --type sealing` writes it, or one that a token derives.
  static func evidenceKey(_ path: String) throws(Failure) -> EvidenceKey {
    if OpenToken.isName(path) {
      let token = try OpenToken(path)
      let derived = try token.attempt { () throws(TokenError) in
        try TokenSecret.derive(by: token.uri, in: token.module, pin: token.pin)
      }
      return try readable("key \(path): ") {
        try EvidenceKey(derived.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
      }
    }
    let content = SecretBytes(copying: try FileAccess.read(path, purpose: "key"))
    guard let secret = content.withUnsafeBytes({ SealingKey.secret(in: $0) }), let key = try? EvidenceKey(secret) else {
      throw .unreadable("key \(path): must be 32 bytes, raw or as hexadecimal or base64 text")
    }
    return key
  }

  /// The public key of a certificate, a public key file or a private key.
  static func publicKey(_ path: String) throws(Failure) -> PublicKey {
    let bytes = try FileAccess.read(path, purpose: "key")
    let text = String(decoding: bytes, as: UTF8.self)
    if let der = PEM.certificates(in: text)?.first {
      guard let key = (try? Certificate(der: der))?.publicKey else {
        throw .unreadable("key \(path): is a certificate without a key on one of mdoc's curves")
      }
      return key
    }
    if let key = p256PublicKey(pem: text) ?? (try? privateKey(path))?.publicKey { return key }
    throw .unreadable("key \(path): must be a certificate, P-256 public key or unencrypted private key in PEM")
  }

  /// The key in a merchant's PEM `SubjectPublicKeyInfo` with an uncompressed P-256 point; otherwise nil.
  private static func p256PublicKey(pem: String) -> PublicKey? {
    let lines = pem.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace || $0 == " " } }
    guard let start = lines.firstIndex(of: "-----BEGIN PUBLIC KEY-----"),
      let end = lines.firstIndex(of: "-----END PUBLIC KEY-----"), start < end,
      let der = Base64.decode(lines[(start + 1)..<end].joined()), der.starts(with: PublicKey.p256InfoPrefix)
    else { return nil }
    return try? PublicKey(curve: .p256, encoded: der.dropFirst(PublicKey.p256InfoPrefix.count))
  }
}

extension Option {
  static let circuits = Option(
    "circuits", "FOLDER", "the circuits of zero-knowledge proofs (default: none can be verified)")
}
