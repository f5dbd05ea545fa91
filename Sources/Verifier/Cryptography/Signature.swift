import COpenSSL
import FoundationEssentials

extension PublicKey {
  /// Verifies a raw ECDSA signature r‖s of fixed width (RFC 9053, 2.1) over the hash of `message`.
  ///
  /// Also returns false for a signature of the wrong width, such as DER, and for r or s out of range.
  public func verifyECDSA(_ signature: some Collection<UInt8>, of message: some ContiguousBytes, hash: HashAlgorithm)
    -> Bool
  {
    guard curve.family == .weierstrass, signature.count == curve.signatureLength else { return false }
    return signature.withContiguousStorageIfAvailable { verify($0, of: message, hash: hash) }
      ?? Array(signature).withUnsafeBufferPointer { verify($0, of: message, hash: hash) }
  }

  /// Verifies a signature in DER, the form of certificates (RFC 5480).
  package func verifyECDSA(
    der signature: UnsafeBufferPointer<UInt8>, of message: UnsafeRawBufferPointer, hash: HashAlgorithm
  ) -> Bool {
    guard curve.family == .weierstrass else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: hash.digestLength) { digest in
      hash.digest(message, to: digest) && verifyECDSA(der: signature, ofDigest: UnsafeBufferPointer(digest))
    }
  }

  /// - Parameter tables: the store of tables for reused keys.
  func verifyECDSA(
    der signature: UnsafeBufferPointer<UInt8>, ofDigest digest: UnsafeBufferPointer<UInt8>,
    tables: VerificationTables = .shared
  ) -> Bool {
    table(in: tables)?.verifies(der: signature, of: digest) ?? verifyWithoutTable(signature, digest, tables)
  }

  private func table(in tables: VerificationTables) -> VerificationTable? {
    isReused.load(ordering: .relaxed) ? tables.table(of: self) : nil
  }

  private func verifyWithoutTable(
    _ signature: UnsafeBufferPointer<UInt8>, _ digest: UnsafeBufferPointer<UInt8>, _ tables: VerificationTables
  ) -> Bool {
    guard let context = verificationContext() else { return false }
    defer { verificationContexts.giveBack(context) }
    let isValid =
      EVP_PKEY_verify(context, signature.baseAddress, signature.count, digest.baseAddress, digest.count) == 1
    if !isValid { ERR_clear_error() }
    if isValid, isReused.load(ordering: .relaxed) { tables.count(self) }
    return isValid
  }

  private func verify(
    _ signature: UnsafeBufferPointer<UInt8>, of message: some ContiguousBytes, hash: HashAlgorithm
  ) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: hash.digestLength) { digest in
      guard message.withUnsafeBytes({ hash.digest($0, to: digest) }) else { return false }
      let digest = UnsafeBufferPointer(digest)
      if let table = table(in: .shared) { return table.verifies(signature, of: digest) }
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DERSignature.longest) { der in
        let written = UnsafeBufferPointer(rebasing: der[..<DERSignature.write(signature, to: der)])
        return verifyWithoutTable(written, digest, .shared)
      }
    }
  }

  /// A context that is ready to verify; the caller owns it.
  private func verificationContext() -> OpaquePointer? {
    if let context = verificationContexts.take() { return context }
    guard let context = EVP_PKEY_CTX_new(pkey, nil) else { return nil }
    guard EVP_PKEY_verify_init(context) == 1 else {
      EVP_PKEY_CTX_free(context)
      return nil
    }
    return context
  }

  /// Verifies an Ed25519 or Ed448 signature (RFC 8032, pure).
  public func verifyEdDSA(_ signature: some Collection<UInt8>, of message: some ContiguousBytes) -> Bool {
    guard curve.family == .edwards, signature.count == curve.signatureLength, let context = EVP_MD_CTX_new() else {
      return false
    }
    defer { EVP_MD_CTX_free(context) }
    let bytes = Array(signature)
    let isValid = message.withUnsafeBytes { message in
      EVP_DigestVerifyInit(context, nil, nil, nil, pkey) == 1
        && EVP_DigestVerify(context, bytes, bytes.count, message.octets, message.count) == 1
    }
    if !isValid { ERR_clear_error() }
    return isValid
  }
}

extension PrivateKey {
  /// A raw ECDSA signature r‖s over the hash of `message`.
  public func signECDSA(_ message: some ContiguousBytes, hash: HashAlgorithm) throws(CryptoError) -> [UInt8] {
    guard curve.family == .weierstrass else { throw .unsupportedKey }
    let digest = hash.hash(message)
    if let held { return try held.signature(ofDigest: digest) }
    guard let context = EVP_PKEY_CTX_new(pkey, nil) else { throw .libraryFailure }
    defer { EVP_PKEY_CTX_free(context) }
    var length = 160
    var der = [UInt8](repeating: 0, count: length)
    guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_sign(context, &der, &length, digest, digest.count) == 1 else {
      throw .libraryFailure
    }
    let pair = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var start = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &start, length)
    }
    guard let pair else { throw .libraryFailure }
    defer { ECDSA_SIG_free(pair) }
    return try rawSignature(pair, half: curve.coordinateLength)
  }

  /// An Ed25519 or Ed448 signature, which is deterministic.
  public func signEdDSA(_ message: some ContiguousBytes) throws(CryptoError) -> [UInt8] {
    guard curve.family == .edwards, let length = curve.signatureLength, let context = EVP_MD_CTX_new() else {
      throw .unsupportedKey
    }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: length)
    var written = length
    let isSigned = message.withUnsafeBytes { message in
      EVP_DigestSignInit(context, nil, nil, nil, pkey) == 1
        && EVP_DigestSign(context, &signature, &written, message.octets, message.count) == 1
    }
    guard isSigned else { throw .libraryFailure }
    return signature
  }
}

/// r‖s, each padded to `half` bytes.
func rawSignature(_ pair: OpaquePointer, half: Int) throws(CryptoError) -> [UInt8] {
  var output = [UInt8](repeating: 0, count: 2 * half)
  let isWritten = output.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return false }
    return BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, Int32(half)) == half
      && BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + half, Int32(half)) == half
  }
  guard isWritten else { throw .libraryFailure }
  return output
}

/// OpenSSL's form of ECDSA signatures: DER `SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279, 2.2.3). OpenSSL's own writer
/// makes five allocations.
enum DERSignature {
  /// The length in bytes of the longest signature (P-521): an outer head, and two numbers of 66 bytes with heads and
  /// padding.
  static let longest = 3 + 2 * (2 + 67)

  /// Writes r‖s, two equal halves of at most 66 bytes, into a buffer of `longest` bytes. Returns the length.
  static func write(_ signature: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    precondition(signature.count <= 2 * 66 && output.count >= longest, "the buffer holds the longest signature")
    let half = signature.count / 2
    let r = Number(UnsafeBufferPointer(rebasing: signature[..<half]))
    let s = Number(UnsafeBufferPointer(rebasing: signature[half...]))
    let content = r.length + s.length + 4
    var position = 0
    put(0x30, &position, output)
    if content >= 0x80 { put(0x81, &position, output) }
    put(UInt8(content), &position, output)
    r.write(to: output, &position)
    s.write(to: output, &position)
    return position
  }

  /// Writes r‖s to both halves of the output. False for anything but DER: OpenSSL also reads BER, and ignores trailing
  /// bytes.
  static func read(_ signature: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    var position = signature.baseAddress
    let half = output.count / 2
    guard let pair = d2i_ECDSA_SIG(nil, &position, signature.count), let start = output.baseAddress else {
      ERR_clear_error()
      return false
    }
    defer { ECDSA_SIG_free(pair) }
    // The numbers are written without their signs. The encoding of a negative number thus differs from the input.
    guard BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, Int32(half)) == half,
      BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + half, Int32(half)) == half
    else {
      ERR_clear_error()
      return false
    }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { der in
      der[..<write(UnsafeBufferPointer(output), to: der)].elementsEqual(signature)
    }
  }

  private static func put(_ byte: UInt8, _ position: inout Int, _ output: UnsafeMutableBufferPointer<UInt8>) {
    output[position] = byte
    position += 1
  }

  /// An INTEGER in DER. It has a leading zero only if the number would otherwise be negative. The number 0 is one zero
  /// byte.
  private struct Number {
    let bytes: UnsafeBufferPointer<UInt8>
    let isPadded: Bool

    var length: Int { bytes.count + (isPadded ? 1 : 0) }

    init(_ padded: UnsafeBufferPointer<UInt8>) {
      bytes = UnsafeBufferPointer(rebasing: padded.drop { $0 == 0 })
      isPadded = bytes.isEmpty || bytes[0] >= 0x80
    }

    func write(to output: UnsafeMutableBufferPointer<UInt8>, _ position: inout Int) {
      put(0x02, &position, output)
      put(UInt8(length), &position, output)
      if isPadded { put(0, &position, output) }
      for byte in bytes { put(byte, &position, output) }
    }
  }
}

/// The reason why a cryptographic operation failed. A signature or tag that does not verify is `false`, not an error.
public enum CryptoError: Error, Sendable, Hashable {
  /// The bytes are not a public key on the curve: wrong length, not on the curve, or infinity.
  case invalidPublicKey
  case invalidPrivateKey
  /// The private key is encrypted, and no passphrase was given.
  case passphraseRequired
  /// The private key does not decrypt with the passphrase.
  case passphraseWrong
  /// The encrypted private key demands more work than `Limits` allows.
  case passphraseTooCostly
  /// The key's type, or the algorithm for it, is unsupported.
  case unsupportedKey
  /// Keys of different curves, or an all-zero shared secret (RFC 7748, 6).
  case keyAgreementFailed
  /// A ciphertext that does not authenticate, or is shorter than its tag.
  case decryptionFailed
  /// A nonce, key or output length outside the algorithm's bounds.
  case invalidLength
  /// The holder of the key, such as a PKCS #11 token, does not complete the operation in time. A later attempt may
  /// succeed.
  case keyUnavailable
  /// OpenSSL failed: memory is exhausted, or the installation is broken.
  case libraryFailure
}
