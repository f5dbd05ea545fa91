import FoundationEssentials

/// HPKE, base mode, single shot (RFC 9180, 6.1), with the one suite that mdoc protocols use:
/// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
///
/// A file a section of the RFC: `KEM` (4.1), `KeySchedule` (5.1), and here the single-shot calls.
public struct HPKE: Sendable {
  let kem: KEM
  let aead: AEAD
  /// `suite_id` of the key schedule (RFC 9180, 5.1): "HPKE", KEM, KDF (HKDF-SHA256), AEAD.
  let suiteID: [UInt8]
  /// `psk_id_hash` of the key schedule: of the empty `psk_id`, which all of base mode has.
  let emptyPSKIDHash: [UInt8]

  private init(kem: KEM, aead: AEAD) {
    self.kem = kem
    self.aead = aead
    suiteID = Array("HPKE".utf8) + kem.identifier + [0x00, 0x01] + aead.identifier
    // LabeledExtract("", "psk_id_hash", "")
    let labeled = Array("HPKE-v1".utf8) + suiteID + Array("psk_id_hash".utf8)
    emptyPSKIDHash = HMAC.authenticate(labeled, key: SecretBytes(copying: [UInt8]()), hash: .sha256)
  }

  public static let p256SHA256AES128GCM = HPKE(kem: .p256SHA256, aead: .aes128GCM)

  /// `OpenBase(enc, skR, info, aad, ct)` for the first and only message.
  ///
  /// - Throws: `invalidPublicKey` for an `enc` that is no point of the KEM's curve, `decryptionFailed` otherwise.
  public func open(
    _ ciphertext: some ContiguousBytes, encapsulatedKey: some Collection<UInt8>, recipient: PrivateKey,
    info: some ContiguousBytes, additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    try open(
      ciphertext, encapsulatedKey: PublicKey(curve: kem.curve, encoded: encapsulatedKey), recipient: recipient,
      info: info, additionalData: additionalData)
  }

  /// The same with an `enc` that was imported before.
  public func open(
    _ ciphertext: some ContiguousBytes, encapsulatedKey: PublicKey, recipient: PrivateKey,
    info: some ContiguousBytes, additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    try open(
      ciphertext, sharedSecret: sharedSecret(of: encapsulatedKey, recipient: recipient), info: info,
      additionalData: additionalData)
  }

  /// `Decap(enc, skR)`: opens the messages of this one `enc`, and says nothing of the recipient's key.
  public func sharedSecret(of encapsulatedKey: PublicKey, recipient: PrivateKey) throws(CryptoError) -> SecretBytes {
    try kem.decapsulate(encapsulatedKey, recipient: recipient)
  }

  /// The same as `OpenBase` with what its first step came to.
  public func open(
    _ ciphertext: some ContiguousBytes, sharedSecret: borrowing SecretBytes, info: some ContiguousBytes,
    additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    let context = try KeySchedule(suite: self, sharedSecret: sharedSecret, info: info)
    return try AESGCM.open(
      ciphertext, key: context.key, nonce: context.baseNonce, additionalData: additionalData)
  }

  /// `SealBase(pkR, info, aad, pt)`. The ephemeral key is fresh unless given.
  public func seal(
    _ plaintext: some ContiguousBytes, to recipient: PublicKey, info: some ContiguousBytes,
    additionalData: some ContiguousBytes = [UInt8](), ephemeralKey: PrivateKey? = nil
  ) throws(CryptoError) -> (encapsulatedKey: [UInt8], ciphertext: [UInt8]) {
    let ephemeral: PrivateKey
    if let ephemeralKey { ephemeral = ephemeralKey } else { ephemeral = try PrivateKey(generatingOn: kem.curve) }
    let sharedSecret = try kem.encapsulate(to: recipient, ephemeral: ephemeral)
    let context = try KeySchedule(suite: self, sharedSecret: sharedSecret, info: info)
    let ciphertext = try AESGCM.seal(
      plaintext, key: context.key, nonce: context.baseNonce, additionalData: additionalData)
    return (ephemeral.publicKey.encoded, ciphertext)
  }
}

/// An AEAD of RFC 9180, 7.3.
struct AEAD: Sendable {
  let identifier: [UInt8]
  let keyLength: Int

  static let aes128GCM = AEAD(identifier: [0x00, 0x01], keyLength: 16)
}
