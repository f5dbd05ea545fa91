import Base
import CBOR
import Cryptography
import Longfellow
import Mdoc
import PKIX
import Sessions
import Trust

/// The binary content of a file that holds it raw, in hexadecimal, or in base64 of either alphabet.
///
/// A DeviceResponse, an envelope and a transcript begin with a byte that is not ASCII, so none of them is mistaken for
/// text. Text that is neither hexadecimal nor base64 is taken unchanged, and the parser will refuse it.
struct WireBytes: Sendable {
  enum Encoding: String, Sendable { case raw, hex, base64 }

  let bytes: [UInt8]
  let encoding: Encoding

  init(_ file: [UInt8]) {
    guard let text = WireBytes.text(of: file) else {
      self.init(file, .raw)
      return
    }
    let candidates = [
      (Hex.decode(text), Encoding.hex), (Base64.decodeEither(text), .base64), (file, .raw),
    ].compactMap { bytes, encoding in bytes.map { (bytes: $0, encoding: encoding) } }
    // The first reading that is well-formed CBOR is the right one. If there is none, the first reading is a fair guess.
    let best = candidates.first { WireBytes.isCBOR($0.bytes) } ?? candidates.first
    self.init(best?.bytes ?? file, best?.encoding ?? .raw)
  }

  private init(_ bytes: [UInt8], _ encoding: Encoding) {
    self.bytes = bytes
    self.encoding = encoding
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
  /// A wallet's answer. Throws only if the path cannot be read, since the content is judged later.
  static func answer(at path: String) throws(Failure) -> [UInt8] {
    WireBytes(try FileAccess.readPrefix(path, purpose: "answer")).bytes
  }
}

/// The SessionTranscript that an answer is verified over. It must be the verifier's own, not the wallet's.
enum TranscriptFile {
  static func transcript(_ path: String) throws(Failure) -> SessionTranscript {
    let file = WireBytes(try FileAccess.read(path, purpose: "transcript"))
    guard let item = try? CBORItem(parsing: file.bytes) else { throw .unreadable("transcript \(path): is not CBOR") }
    // Both forms are in use: the array, and SessionTranscriptBytes with the array inside tag 24.
    let encoded = item.embedded.map { Array($0.encoded) } ?? file.bytes
    do throws(MdocParseError) {
      return try SessionTranscript(encoded: encoded)
    } catch {
      throw .unreadable("transcript \(path): is not an array of device engagement, reader key and handover")
    }
  }
}

/// A relying party's request in the shape of the HTTP API, typed as JSON or in a file.
enum RequestFile {
  /// - Parameters:
  ///   - argument: JSON if it begins with a brace or bracket, otherwise a path. Nil requests nothing in particular.
  ///   - protocolName: the protocol that carries it; nil for a DeviceResponse without one.
  ///   - circuits: those by which proofs can be asked for.
  static func request(
    _ argument: String?, for family: ProtocolFamily, over protocolName: String? = nil, circuits: CircuitLibrary? = nil,
    revocation: RevocationPolicy = .off
  ) throws(Failure) -> PresentationRequest? {
    guard let argument else { return nil }
    let isInline = ["{", "["].contains(argument.drop(while: \.isWhitespace).first)
    let source = isInline ? "--request" : "request \(argument)"
    let bytes = isInline ? Array(argument.utf8) : try FileAccess.read(argument, purpose: "request")
    func fault(_ problem: String) -> Failure {
      isInline ? .usage("\(source): \(problem)") : .unreadable("\(source): \(problem)")
    }
    guard let json = try? JSON(parsing: bytes) else { throw fault("is not JSON") }
    do throws(ServiceError) {
      let proofs = PresentationRequestDecoder.ProofRules(
        circuits: circuits?.circuits ?? [], revocation: revocation)
      let protocols = protocolName.map { [$0] } ?? []
      return try PresentationRequestDecoder(for: family, protocols: protocols, proofs: proofs).decode(json)
    } catch {
      let faults = error.pointers.map { "\($0.pointer.isEmpty ? "it" : $0.pointer) \($0.detail)" }
      throw fault(faults.isEmpty ? error.detail : faults.joined(separator: "; "))
    }
  }
}

/// Trust anchors for `mdoc verify` and `mdoc trust`. They count for every document type unless their settings restrict
/// it. Test anchors are trusted too, since the user names each file.
enum TrustFiles {
  static func anchors(_ paths: [String]) throws(Failure) -> [TrustAnchor] {
    do throws(TrustLoadError) {
      return try TrustAnchorLoader(defaultDocTypes: nil).load(paths)
    } catch {
      throw .unreadable("trust \(error.description)")
    }
  }

  static func store(_ paths: [String]) throws(Failure) -> TrustStore {
    let anchors = try anchors(paths)
    do throws(TrustStoreError) {
      return try TrustStore(anchors: anchors, allowsTestCertificates: true)
    } catch {
      throw .unreadable(
        "trust \(paths.joined(separator: ", ")): no certificates there (.pem, .crt, .cer or .der in a folder)")
    }
  }
}

/// Reads keys from files.
enum KeyFile {
  /// A private key: PEM (PKCS #8 or SEC 1, not encrypted), or the 32 bytes of a P-256 scalar in hexadecimal, as Apple
  /// publishes the key of its sample.
  static func privateKey(_ path: String) throws(Failure) -> PrivateKey {
    let bytes = try FileAccess.read(path, purpose: "key")
    if let key = try? PrivateKey(pem: bytes) { return key }
    if let scalar = Hex.decode(String(decoding: bytes, as: UTF8.self)), scalar.count == 32,
      let key = try? PrivateKey(curve: .p256, scalar: scalar)
    {
      return key
    }
    throw .unreadable("key \(path): is neither an unencrypted private key in PEM nor a P-256 scalar in hexadecimal")
  }

  /// P-256 private keys that Apple's in-app answers can be encrypted to. Throws if a key is on another curve.
  static func encryptionKeys(_ paths: [String]) throws(Failure) -> [PrivateKey] {
    var keys: [PrivateKey] = []
    for path in paths {
      let key = try privateKey(path)
      guard key.curve == .p256 else {
        throw .unreadable("key \(path): is on \(key.curve.rawValue); Apple encrypts to P-256 keys")
      }
      keys.append(key)
    }
    return keys
  }

  /// A key of 32 bytes, as `mdoc keys generate --type sealing` writes it.
  static func evidenceKey(_ path: String) throws(Failure) -> EvidenceKey {
    let content = SecretBytes(copying: try FileAccess.read(path, purpose: "key"))
    guard let secret = content.withUnsafeBytes({ SealingKey.secret(in: $0) }), let key = try? EvidenceKey(secret) else {
      throw .unreadable("key \(path): has neither 32 bytes nor their hexadecimal or base64 text")
    }
    return key
  }

  /// The public key in a certificate, in a public key file, or belonging to a private key.
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
    throw .unreadable("key \(path): is no certificate, P-256 public key or unencrypted private key in PEM")
  }

  /// The key in a PEM `SubjectPublicKeyInfo` with an uncompressed P-256 point; Apple's merchants have no other public
  /// keys. Nil if it is anything else.
  private static func p256PublicKey(pem: String) -> PublicKey? {
    let lines = pem.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace || $0 == " " } }
    guard let start = lines.firstIndex(of: "-----BEGIN PUBLIC KEY-----"),
      let end = lines.firstIndex(of: "-----END PUBLIC KEY-----"), start < end,
      let der = Base64.decode(lines[(start + 1)..<end].joined()), der.starts(with: PublicKey.p256InfoPrefix)
    else { return nil }
    return try? PublicKey(curve: .p256, encoded: der.dropFirst(PublicKey.p256InfoPrefix.count))
  }
}

/// The folder of circuits that an option names.
enum CircuitFiles {
  static func library(_ folder: String?) throws(Failure) -> CircuitLibrary? {
    guard let folder else { return nil }
    let library: CircuitLibrary
    do throws(CircuitFolderError) { library = try CircuitLibrary(folder: folder) } catch {
      throw .unreadable("circuits \(error.description)")
    }
    guard !library.circuits.isEmpty else {
      throw .unreadable("circuits \(folder): has no circuit that is known (mdoc circuits import)")
    }
    return library
  }
}

extension Option {
  static let circuits = Option(
    "circuits", "FOLDER", "the circuits of zero-knowledge proofs (default: none can be verified)")
}
