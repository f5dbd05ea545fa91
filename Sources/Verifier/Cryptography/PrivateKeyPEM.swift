import Base
import COpenSSL
import FoundationEssentials

/// Reads private keys in PEM, with a passphrase if they are encrypted. It never prompts for a passphrase.
///
/// OpenSSL parses, decrypts and decodes. The key's algorithm and curve are checked first: OpenSSL checks the key's
/// numbers while decoding, which takes minutes for an RSA key of some thousand bits.
enum PrivateKeyPEM {
  /// The passphrase for OpenSSL's callback. OpenSSL calls it only for an encrypted key.
  private struct Request {
    let passphrase: UnsafeRawBufferPointer?
    var wasAsked = false
  }

  private static let longestPassphrase = 1_024

  static func read(
    _ pem: some ContiguousBytes, _ passphrase: UnsafeRawBufferPointer?
  ) throws(CryptoError) -> KeyPair {
    defer { ERR_clear_error() }
    let usable = passphrase.flatMap { (1...longestPassphrase).contains($0.count) ? $0 : nil }
    var request = Request(passphrase: usable)
    let wrong = passphrase == nil ? CryptoError.passphraseRequired : .passphraseWrong
    guard let block = Block(pem, &request) else { throw request.wasAsked ? wrong : .invalidPrivateKey }
    switch block.label {
    case PEM_STRING_PKCS8INF: return try key(info: block.content)
    case PEM_STRING_PKCS8: return try decrypt(block.content, usable, wrong)
    case PEM_STRING_ECPRIVATEKEY:
      do throws(CryptoError) {
        return try ecKey(block.content)
      } catch {
        // Usually, only decoding the decrypted bytes reveals a wrong passphrase.
        throw request.wasAsked && error == .invalidPrivateKey ? .passphraseWrong : error
      }
    default: throw .unsupportedKey
    }
  }

  /// `EncryptedPrivateKeyInfo` (RFC 5958, 3).
  private static func decrypt(
    _ der: UnsafeRawBufferPointer, _ passphrase: UnsafeRawBufferPointer?, _ wrong: CryptoError
  ) throws(CryptoError) -> KeyPair {
    var position = der.octets
    guard let sealed = d2i_X509_SIG(nil, &position, der.count) else { throw .invalidPrivateKey }
    defer { X509_SIG_free(sealed) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    var content: UnsafePointer<ASN1_OCTET_STRING>?
    X509_SIG_get0(sealed, &algorithm, &content)
    guard PassphraseWork.isBounded(algorithm) else { throw .passphraseTooCostly }
    guard let passphrase else { throw wrong }
    var plaintext: UnsafeMutablePointer<UInt8>?
    var length: Int32 = 0
    let isDecrypted = PKCS12_pbe_crypt(
      algorithm, passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(passphrase.count),
      ASN1_STRING_get0_data(content), ASN1_STRING_length(content), &plaintext, &length, 0)
    guard isDecrypted != nil, let plaintext else { throw wrong }
    defer { CRYPTO_clear_free(plaintext, Int(length), nil, 0) }
    do throws(CryptoError) {
      return try key(info: UnsafeRawBufferPointer(start: plaintext, count: Int(length)))
    } catch {
      throw error == .invalidPrivateKey ? wrong : error
    }
  }

  /// `PrivateKeyInfo` (RFC 5958, 2; RFC 8410, 7).
  private static func key(info der: UnsafeRawBufferPointer) throws(CryptoError) -> KeyPair {
    var position = der.octets
    guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, der.count) else { throw .invalidPrivateKey }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    guard PKCS8_pkey_get0(nil, nil, nil, &algorithm, info) == 1 else { throw .invalidPrivateKey }
    guard let curve = curve(of: algorithm) else { throw .unsupportedKey }
    return try pair(adopting: EVP_PKCS82PKEY(info), curve)
  }

  /// `ECPrivateKey` (RFC 5915, 3).
  private static func ecKey(_ der: UnsafeRawBufferPointer) throws(CryptoError) -> KeyPair {
    var position = der.octets
    guard let pkey = d2i_PrivateKey(EVP_PKEY_EC, nil, &position, der.count) else { throw .invalidPrivateKey }
    guard namedCurve(of: pkey) != nil else {
      EVP_PKEY_free(pkey)
      throw .unsupportedKey
    }
    return try pair(adopting: pkey, nil)
  }

  /// A named curve of `Curve`, or an Edwards or Montgomery curve; nil for other keys.
  private static func curve(of algorithm: UnsafePointer<X509_ALGOR>?) -> Curve? {
    var object: OpaquePointer?
    var type: Int32 = 0
    var parameter: UnsafeRawPointer?
    X509_ALGOR_get0(&object, &type, &parameter, algorithm)
    guard OBJ_obj2nid(object) == NID_X9_62_id_ecPublicKey else {
      return Curve(nid: OBJ_obj2nid(object)).flatMap { $0.family == .weierstrass ? nil : $0 }
    }
    guard type == V_ASN1_OBJECT, let parameter else { return nil }
    return Curve(nid: OBJ_obj2nid(OpaquePointer(parameter))).flatMap { $0.family == .weierstrass ? $0 : nil }
  }

  /// The key pair of the decoded scalar. The computed public half must equal the public half in the file.
  private static func pair(adopting pkey: OpaquePointer?, _ expected: Curve?) throws(CryptoError) -> KeyPair {
    guard let pkey else { throw .invalidPrivateKey }
    defer { EVP_PKEY_free(pkey) }
    guard let curve = namedCurve(of: pkey), expected == nil || curve == expected else { throw .invalidPrivateKey }
    let pair: KeyPair
    let isWhole: Bool
    do throws(CryptoError) {
      let read = try PrivateKey(referencing: pkey, on: curve)
      pair = try read.scalar().withUnsafeBytes { bytes throws(CryptoError) in try KeyPair(curve, scalar: bytes) }
      isWhole = pair.point.isEmpty || pair.point == read.publicKey.encoded
    } catch {
      // The scalar or the point is longer than the field.
      throw .invalidPrivateKey
    }
    guard isWhole else {
      EVP_PKEY_free(pair.pkey)
      throw .invalidPrivateKey
    }
    return pair
  }

  /// The first PEM block with a private key, decrypted if its headers demand it (RFC 1421).
  private struct Block: ~Copyable {
    let label: String
    private let data: UnsafeMutablePointer<UInt8>
    private let length: Int

    var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: length) }

    init?(_ pem: some ContiguousBytes, _ request: inout Request) {
      var name: UnsafeMutablePointer<CChar>?
      var data: UnsafeMutablePointer<UInt8>?
      var length = 0
      let isRead = pem.withUnsafeBytes { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return false }
        defer { BIO_free(bio) }
        return PEM_bytes_read_bio_secmem(&data, &length, &name, PEM_STRING_EVP_PKEY, bio, prompt, &request) == 1
      }
      guard isRead, let data, let name else { return nil }
      label = String(cString: name)
      CRYPTO_secure_free(name, nil, 0)
      self.data = data
      self.length = length
    }

    deinit { CRYPTO_secure_clear_free(data, length, nil, 0) }
  }

  private typealias Prompt =
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

  /// Passes the passphrase to OpenSSL without prompting. OpenSSL wipes its buffer.
  private static let prompt: Prompt = { buffer, size, _, context in
    guard let request = context?.assumingMemoryBound(to: Request.self), let buffer else { return -1 }
    request.pointee.wasAsked = true
    guard let passphrase = request.pointee.passphrase, passphrase.count <= Int(size) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyMemory(from: passphrase)
    return Int32(passphrase.count)
  }
}

/// The work that an encrypted key demands for each passphrase. The key file determines this work, up to 2³¹ rounds.
private enum PassphraseWork {
  /// True if the work is within `Limits`. Supports PBKDF2, scrypt (RFC 8018, 6.2; RFC 7914, 7) and their predecessors,
  /// which also have rounds.
  static func isBounded(_ algorithm: UnsafePointer<X509_ALGOR>?) -> Bool {
    guard let (function, parameters) = parts(algorithm) else { return false }
    guard function == NID_pbes2 else {
      guard let numbers = decoded(parameters, d2i_PBEPARAM) else { return false }
      defer { PBEPARAM_free(numbers) }
      return isAtMost(Limits.passphraseRounds, numbers.pointee.iter)
    }
    guard let scheme = decoded(parameters, d2i_PBE2PARAM) else { return false }
    defer { PBE2PARAM_free(scheme) }
    guard let (derivation, numbers) = parts(UnsafePointer(scheme.pointee.keyfunc)) else { return false }
    switch derivation {
    case NID_id_scrypt: return hasBoundedSteps(numbers)
    case NID_id_pbkdf2:
      guard let numbers = decoded(numbers, d2i_PBKDF2PARAM) else { return false }
      defer { PBKDF2PARAM_free(numbers) }
      return isAtMost(Limits.passphraseRounds, numbers.pointee.iter)
    default: return false
    }
  }

  private static func hasBoundedSteps(_ parameters: UnsafePointer<ASN1_STRING>) -> Bool {
    guard let numbers = decoded(parameters, d2i_SCRYPT_PARAMS) else { return false }
    defer { SCRYPT_PARAMS_free(numbers) }
    let factors = [numbers.pointee.costParameter, numbers.pointee.blockSize, numbers.pointee.parallelizationParameter]
    var steps = 1
    for factor in factors {
      guard let factor, let number = number(factor), number > 0 else { return false }
      let (product, overflow) = steps.multipliedReportingOverflow(by: number)
      guard !overflow, product <= Limits.passphraseSteps else { return false }
      steps = product
    }
    return true
  }

  private static func isAtMost(_ limit: Int, _ count: UnsafeMutablePointer<ASN1_INTEGER>?) -> Bool {
    count.flatMap(number).map { $0 <= limit } ?? false
  }

  private static func number(_ integer: UnsafeMutablePointer<ASN1_INTEGER>) -> Int? {
    var value: Int64 = 0
    return ASN1_INTEGER_get_int64(&value, integer) == 1 && value >= 0 ? Int(value) : nil
  }

  /// The algorithm's NID (OpenSSL's number) and its encoded parameters, a sequence.
  private static func parts(_ algorithm: UnsafePointer<X509_ALGOR>?) -> (Int32, UnsafePointer<ASN1_STRING>)? {
    var object: OpaquePointer?
    var type: Int32 = 0
    var parameter: UnsafeRawPointer?
    X509_ALGOR_get0(&object, &type, &parameter, algorithm)
    guard type == V_ASN1_SEQUENCE, let parameter else { return nil }
    return (OBJ_obj2nid(object), parameter.assumingMemoryBound(to: ASN1_STRING.self))
  }

  private static func decoded<Value>(
    _ encoding: UnsafePointer<ASN1_STRING>,
    _ decode: (UnsafeMutablePointer<UnsafeMutablePointer<Value>?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int)
      -> UnsafeMutablePointer<Value>?
  ) -> UnsafeMutablePointer<Value>? {
    var position = ASN1_STRING_get0_data(encoding)
    return decode(nil, &position, Int(ASN1_STRING_length(encoding)))
  }
}
