import Base
import COpenSSL
import FoundationEssentials

/// Reads private keys in PEM, with a passphrase if they are encrypted. It never prompts anybody for one.
///
/// OpenSSL parses the text and decrypts it; `PrivateKeyInfo` reads the key.
enum PrivateKeyPEM {
  /// The passphrase for OpenSSL's callback, and whether it was called: only an encrypted key asks.
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
    case PEM_STRING_PKCS8INF: return try PrivateKeyInfo(block.content).key()
    case PEM_STRING_PKCS8: return try decrypt(block.content, usable, wrong)
    case PEM_STRING_ECPRIVATEKEY:
      do throws(CryptoError) {
        return try PrivateKeyInfo(ecPrivateKey: block.content).key()
      } catch {
        // A wrong passphrase is rarely noticed before its result is read as a key.
        throw request.wasAsked && error == .invalidPrivateKey ? .passphraseWrong : error
      }
    default: throw .unsupportedKey
    }
  }

  /// `EncryptedPrivateKeyInfo` (RFC 5958, 3).
  private static func decrypt(
    _ der: UnsafeRawBufferPointer, _ passphrase: UnsafeRawBufferPointer?, _ wrong: CryptoError
  ) throws(CryptoError) -> KeyPair {
    guard PassphraseWork.isBounded(der) else { throw .passphraseTooCostly }
    guard let passphrase else { throw wrong }
    var position = der.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard let sealed = d2i_X509_SIG(nil, &position, der.count) else { throw .invalidPrivateKey }
    defer { X509_SIG_free(sealed) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    var content: UnsafePointer<ASN1_OCTET_STRING>?
    X509_SIG_get0(sealed, &algorithm, &content)
    var plaintext: UnsafeMutablePointer<UInt8>?
    var length: Int32 = 0
    let isDecrypted = PKCS12_pbe_crypt(
      algorithm, passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(passphrase.count),
      ASN1_STRING_get0_data(content), ASN1_STRING_length(content), &plaintext, &length, 0)
    guard isDecrypted != nil, let plaintext else { throw wrong }
    defer { CRYPTO_clear_free(plaintext, Int(length), nil, 0) }
    do throws(CryptoError) {
      return try PrivateKeyInfo(UnsafeRawBufferPointer(start: plaintext, count: Int(length))).key()
    } catch {
      throw error == .invalidPrivateKey ? wrong : error
    }
  }

  /// The first PEM block that is a private key. It is decrypted if its headers say that it is encrypted (RFC 1421).
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
        return PEM_bytes_read_bio_secmem(&data, &length, &name, PEM_STRING_EVP_PKEY, bio, answer, &request) == 1
      }
      guard isRead, let data, let name else { return nil }
      label = String(cString: name)
      CRYPTO_secure_free(name, nil, 0)
      self.data = data
      self.length = length
    }

    deinit { CRYPTO_secure_clear_free(data, length, nil, 0) }
  }

  private typealias Answer =
    @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

  /// Gives the passphrase, or nothing, so that nothing ever prompts. OpenSSL wipes its buffer.
  private static let answer: Answer = { buffer, size, _, context in
    guard let request = context?.assumingMemoryBound(to: Request.self), let buffer else { return -1 }
    request.pointee.wasAsked = true
    guard let passphrase = request.pointee.passphrase, passphrase.count <= Int(size) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyMemory(from: passphrase)
    return Int32(passphrase.count)
  }
}

/// The work that an encrypted key demands before its passphrase can be tried: the file chooses it, up to 2³¹ rounds.
enum PassphraseWork {
  /// Whether the work is within our bounds. It covers PBKDF2 and scrypt (RFC 8018, 6.2; RFC 7914, 7) and their
  /// forerunners, which all have rounds as well. False for an encoding that is not read here: OpenSSL also reads
  /// lengths in other forms than DER's.
  static func isBounded(_ encryptedKey: UnsafeRawBufferPointer) -> Bool {
    var outer = DERElements(encryptedKey)
    guard var info = outer.nested(.sequence), var algorithm = info.nested(.sequence),
      let identifier = algorithm.next(.object), var parameters = algorithm.nested(.sequence)
    else { return false }
    guard DERElements.isObject(identifier, NID_pbes2) else { return hasBoundedRounds(&parameters) }
    guard var derivation = parameters.nested(.sequence), let function = derivation.next(.object),
      var numbers = derivation.nested(.sequence)
    else { return false }
    return DERElements.isObject(function, NID_id_scrypt) ? hasBoundedSteps(&numbers) : hasBoundedRounds(&numbers)
  }

  /// Salt, rounds.
  private static func hasBoundedRounds(_ numbers: inout DERElements) -> Bool {
    guard numbers.next(.octetString) != nil, let rounds = numbers.number() else { return false }
    return rounds <= Limits.passphraseRounds
  }

  /// Salt, N, r, p.
  private static func hasBoundedSteps(_ numbers: inout DERElements) -> Bool {
    guard numbers.next(.octetString) != nil, let cost = numbers.number(), let size = numbers.number(),
      let parallel = numbers.number()
    else { return false }
    let (blocks, overflow) = cost.multipliedReportingOverflow(by: size)
    let (steps, secondOverflow) = blocks.multipliedReportingOverflow(by: parallel)
    return !overflow && !secondOverflow && steps <= Limits.passphraseSteps
  }
}
