import COpenSSL
import FoundationEssentials

extension PrivateKey {
  /// The x-coordinate of the ECDH point (SEC 1, 3.3.1), or the X25519/X448 output (RFC 7748). An all-zero output is an
  /// error.
  public func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
    guard curve == peer.curve, curve.family != .edwards else { throw .keyAgreementFailed }
    if let held { return try held.sharedSecret(with: peer) }
    guard let context = derivationContext() else { throw .keyAgreementFailed }
    // `KeyRecycler` may give the peer's key another point. An idle context still refers to that key, but does not read
    // it.
    defer { derivationContexts.giveBack(context) }
    // The peer's point is not checked again, since a check costs as much as the agreement. `PublicKey` has checked that
    // the point is on the curve and not infinity. Every curve here has cofactor 1, or clamps the scalar (RFC 7748).
    guard EVP_PKEY_derive_set_peer_ex(context, peer.pkey, 0) == 1 else {
      ERR_clear_error()
      throw .keyAgreementFailed
    }
    let length = curve.coordinateLength
    let secret = try SecretBytes(count: length) { buffer throws(CryptoError) in
      var written = length
      guard EVP_PKEY_derive(context, buffer.octets, &written) == 1, written == length else {
        ERR_clear_error()
        throw .keyAgreementFailed
      }
    }
    if curve.family == .montgomery, secret.withUnsafeBytes({ $0.allSatisfy { $0 == 0 } }) { throw .keyAgreementFailed }
    return secret
  }

  /// A context that is ready for a peer; the caller owns it.
  private func derivationContext() -> OpaquePointer? {
    if let context = derivationContexts.take() { return context }
    guard let context = EVP_PKEY_CTX_new(pkey, nil) else { return nil }
    guard EVP_PKEY_derive_init(context) == 1 else {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
      return nil
    }
    return context
  }
}

/// HKDF (RFC 5869), built on OpenSSL's HMAC. OpenSSL's own HKDF costs three times as much, since it looks up algorithms
/// by name.
public enum HKDF {
  /// Bytes of `info`.
  static let longestInfo = 1024

  /// `HKDF-Expand(HKDF-Extract(salt, secret), info, length)`.
  public static func deriveKey(
    from secret: borrowing SecretBytes, salt: some ContiguousBytes, info: some ContiguousBytes, length: Int,
    hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try expand(extract(secret, salt: salt, hash: hash), info: info, length: length, hash: hash)
  }

  /// `HMAC(salt, secret)`; an absent salt means an empty salt.
  public static func extract(
    _ secret: borrowing SecretBytes, salt: some ContiguousBytes, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    try secret.withUnsafeBytes { secret throws(CryptoError) in
      try SecretBytes(count: hash.digestLength) { output throws(CryptoError) in
        guard salt.withUnsafeBytes({ HMAC.compute([secret], key: $0, hash: hash, into: output) }) else {
          throw .libraryFailure
        }
      }
    }
  }

  /// T(1) ‖ T(2) ‖ …, where T(i) = HMAC(key, T(i−1) ‖ info ‖ i), cut to the length.
  public static func expand(
    _ pseudorandomKey: borrowing SecretBytes, info: some ContiguousBytes, length: Int, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    guard length > 0, length <= 255 * hash.digestLength, info.withUnsafeBytes({ $0.count <= longestInfo }) else {
      throw .invalidLength
    }
    return try pseudorandomKey.withUnsafeBytes { key throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        guard info.withUnsafeBytes({ expand(key, info: $0, hash: hash, into: output) }) else { throw .libraryFailure }
      }
    }
  }

  private static func expand(
    _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, hash: HashAlgorithm,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: hash.digestLength, alignment: 1) { block in
      defer { cleanse(block) }
      var counter: UInt8 = 0
      for start in stride(from: 0, to: output.count, by: hash.digestLength) {
        counter += 1
        let previous = counter == 1 ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(block)
        let isDone = withUnsafeBytes(of: counter) { index in
          HMAC.compute([previous, info, index], key: key, hash: hash, into: block)
        }
        guard isDone else { return false }
        let end = min(start + hash.digestLength, output.count)
        UnsafeMutableRawBufferPointer(rebasing: output[start..<end]).copyBytes(from: block[..<(end - start)])
      }
      return true
    }
  }
}

/// The concatenation key derivation function (NIST SP 800-56A, 5.8.1) of JOSE's ECDH-ES (RFC 7518, 4.6.2).
public enum ConcatKDF {
  // Threads may share it: it is set once, never freed, and immutable in OpenSSL.
  nonisolated(unsafe) private static let singleStep = EVP_KDF_fetch(nil, "SSKDF", nil)  // proof above

  /// - Parameter info: the whole OtherInfo.
  public static func deriveKey(
    from secret: borrowing SecretBytes, info: some ContiguousBytes, length: Int, hash: HashAlgorithm = .sha256
  ) throws(CryptoError) -> SecretBytes {
    guard length > 0, length <= 255 * hash.digestLength else { throw .invalidLength }
    return try secret.withUnsafeBytes { secret throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        let isDerived = info.withUnsafeBytes { info in
          mdoc_single_step_kdf(
            singleStep, hash.algorithm, secret.baseAddress, secret.count, info.baseAddress, info.count,
            output.octets, output.count) == 1
        }
        guard isDerived else {
          ERR_clear_error()
          throw .libraryFailure
        }
      }
    }
  }
}

/// HMAC (RFC 2104), computed by OpenSSL's MAC functions.
public enum HMAC {
  public static func authenticate(
    _ message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> [UInt8] {
    let tag = key.withUnsafeBytes { key in
      message.withUnsafeBytes { message in
        [UInt8](unsafeUninitializedCapacity: hash.digestLength) { output, count in
          if compute([message], key: key, hash: hash, into: UnsafeMutableRawBufferPointer(output)) {
            count = hash.digestLength
          }
        }
      }
    }
    // Only exhausted memory can make this fail: the algorithm is fetched, and the buffer is as long as the hash.
    precondition(tag.count == hash.digestLength, "HMAC failed")
    return tag
  }

  /// True if the tag is the untruncated HMAC of the message; compared in constant time.
  public static func isValid(
    _ tag: some ContiguousBytes, of message: some ContiguousBytes, key: borrowing SecretBytes, hash: HashAlgorithm
  ) -> Bool {
    constantTimeEqual(tag, authenticate(message, key: key, hash: hash))
  }

  /// Computes the HMAC of the parts as one message. `output` must have room for the hash.
  static func compute(
    _ parts: [UnsafeRawBufferPointer], key: UnsafeRawBufferPointer, hash: HashAlgorithm,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let context = Context(hash: hash) else { return false }
    return context.begin(key: key) && parts.allSatisfy { context.update($0) } && context.finish(into: output)
  }

  /// A context that computes several HMACs in turn. Setting a new key costs less than making a new context. Freeing the
  /// context wipes the keys.
  struct Context: ~Copyable {
    private let pointer: OpaquePointer
    let hash: HashAlgorithm

    init?(hash: HashAlgorithm) {
      guard let template = MacTemplates.template(for: hash), let pointer = EVP_MAC_CTX_dup(template) else { return nil }
      self.pointer = pointer
      self.hash = hash
    }

    deinit { EVP_MAC_CTX_free(pointer) }

    borrowing func begin(key: UnsafeRawBufferPointer) -> Bool {
      guard key.isEmpty else {
        return EVP_MAC_init(pointer, key.octets, key.count, nil) == 1
      }
      // OpenSSL refuses an empty key. HMAC pads keys with zeros to the block's length. A key of one zero byte is thus
      // equivalent to an empty key.
      var zero: UInt8 = 0
      return EVP_MAC_init(pointer, &zero, 1, nil) == 1
    }

    borrowing func update(_ part: UnsafeRawBufferPointer) -> Bool {
      part.isEmpty || EVP_MAC_update(pointer, part.octets, part.count) == 1
    }

    /// Writes the HMAC. `output` must have room for the hash.
    borrowing func finish(into output: UnsafeMutableRawBufferPointer) -> Bool {
      var length = 0
      return output.count >= hash.digestLength
        && EVP_MAC_final(pointer, output.octets, &length, hash.digestLength) == 1
    }
  }
}

/// For each hash, one HMAC context without a key. Duplicating a context costs half as much as setting the hash by name.
///
/// Threads may share them: they are set once, never freed, and only read for duplication.
private enum MacTemplates {
  nonisolated(unsafe) private static let all: [HashAlgorithm: OpaquePointer] = {  // proof above
    var templates: [HashAlgorithm: OpaquePointer] = [:]
    guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { return [:] }
    for hash in HashAlgorithm.allCases {
      guard let context = EVP_MAC_CTX_new(mac), mdoc_mac_set_digest(context, hash.algorithm) == 1 else { continue }
      templates[hash] = context
    }
    return templates
  }()
  // Avoids looking up the most common hash.
  nonisolated(unsafe) private static let sha256 = all[.sha256]  // proof above

  static func template(for hash: HashAlgorithm) -> OpaquePointer? { hash == .sha256 ? sha256 : all[hash] }
}
