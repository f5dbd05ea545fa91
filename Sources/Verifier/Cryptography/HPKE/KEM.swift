/// A Diffie-Hellman key encapsulation (RFC 9180, 4.1) with HKDF-SHA256.
struct KEM: Sendable {
  let identifier: [UInt8]
  let curve: Curve
  /// `suite_id` of the encapsulation (RFC 9180, 4.1).
  private let suiteID: [UInt8]

  private init(identifier: [UInt8], curve: Curve) {
    self.identifier = identifier
    self.curve = curve
    suiteID = Array("KEM".utf8) + identifier
  }

  static let p256SHA256 = KEM(identifier: [0x00, 0x10], curve: .p256)

  private static let secretLength = 32

  /// `Decap(enc, skR)`.
  func decapsulate(_ ephemeral: PublicKey, recipient: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try recipient.sharedSecret(with: ephemeral)
    return try extractAndExpand(dh, ephemeral: ephemeral, recipient: recipient.publicKey)
  }

  /// `Encap(pkR)` with a given ephemeral key.
  func encapsulate(to recipient: PublicKey, ephemeral: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try ephemeral.sharedSecret(with: recipient)
    return try extractAndExpand(dh, ephemeral: ephemeral.publicKey, recipient: recipient)
  }

  /// `ExtractAndExpand(dh, kem_context)`; the context is the ephemeral point and the recipient's.
  private func extractAndExpand(
    _ dh: borrowing SecretBytes, ephemeral: PublicKey, recipient: PublicKey
  ) throws(CryptoError) -> SecretBytes {
    let hkdf = try LabeledHKDF(suiteID: suiteID)
    let pseudorandomKey = try dh.withUnsafeBytes { dh throws(CryptoError) in
      try hkdf.extract(salt: UnsafeRawBufferPointer(start: nil, count: 0), label: "eae_prk", secret: dh)
    }
    return try hkdf.expand(
      pseudorandomKey, label: "shared_secret", info: ephemeral.encoded, recipient.encoded, length: Self.secretLength)
  }
}
