import COpenSSL

extension PrivateKey {
  /// The x-coordinate of the ECDH point (SEC 1, 3.3.1), or the X25519/X448 output (RFC 7748), all-zero refused.
  public func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
    guard curve == peer.curve, curve.family != .edwards, let context = derivationContext() else {
      throw .keyAgreementFailed
    }
    // An idle context still refers to the last peer. It reads nothing of it, and the next agreement replaces it first;
    // so the peer's key may be given another point in the meantime (`KeyRecycler`).
    defer { derivationContexts.giveBack(context) }
    // Checking the peer again costs as much as the agreement. `PublicKey` checked that the point is on the curve and
    // not infinity, and every curve here has cofactor 1 (or clamps, RFC 7748), so the check would add nothing.
    guard EVP_PKEY_derive_set_peer_ex(context, peer.pkey, 0) == 1 else {
      ERR_clear_error()
      throw .keyAgreementFailed
    }
    let length = curve.coordinateLength
    let secret = try SecretBytes(count: length) { buffer throws(CryptoError) in
      var written = length
      let output = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard EVP_PKEY_derive(context, output, &written) == 1, written == length else {
        ERR_clear_error()
        throw .keyAgreementFailed
      }
    }
    if curve.family == .montgomery, secret.withUnsafeBytes({ $0.allSatisfy { $0 == 0 } }) { throw .keyAgreementFailed }
    return secret
  }
  /// A context for this key that is ready for a peer, for the caller alone.
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
