/// A Diffie-Hellman key encapsulation (RFC 9180, 4.1) with HKDF-SHA256.
struct KEM: Sendable {
  let identifier: [UInt8]
  let curve: Curve

  static let p256SHA256 = KEM(identifier: [0x00, 0x10], curve: .p256)

  private static let secretLength = 32

  /// `Decap(enc, skR)`.
  func decapsulate(_ ephemeral: PublicKey, recipient: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try recipient.sharedSecret(with: ephemeral)
    return try extractAndExpand(dh, context: ephemeral.encoded + recipient.publicKey.encoded)
  }

  /// `Encap(pkR)` with a given ephemeral key.
  func encapsulate(to recipient: PublicKey, ephemeral: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try ephemeral.sharedSecret(with: recipient)
    return try extractAndExpand(dh, context: ephemeral.publicKey.encoded + recipient.encoded)
  }

  /// `ExtractAndExpand(dh, kem_context)`.
  private func extractAndExpand(_ dh: borrowing SecretBytes, context: [UInt8]) throws(CryptoError) -> SecretBytes {
    let suiteID = Array("KEM".utf8) + identifier
    let label = LabeledHKDF(suiteID: suiteID)
    let pseudorandomKey = try label.extract(salt: [], label: "eae_prk", secret: dh)
    return try label.expand(pseudorandomKey, label: "shared_secret", info: context, length: Self.secretLength)
  }
}
