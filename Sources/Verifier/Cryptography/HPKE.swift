import FoundationEssentials

/// HPKE, base mode, single shot (RFC 9180, 6.1), with the one suite that mdoc protocols use:
/// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
///
/// Below it, a section of the RFC each: `KeySchedule` (5.1), `KEM` (4.1), `LabeledHKDF` (4).
public struct HPKE: Sendable {
  let kem: KEM
  let aead: AEAD
  /// `suite_id` of the key schedule (RFC 9180, 5.1): "HPKE", KEM, KDF (HKDF-SHA256), AEAD.
  let suiteID: [UInt8]
  /// `psk_id_hash` of the key schedule: the hash of the empty `psk_id`, which is always used in base mode.
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

  /// Opens with an `enc` that was imported before.
  public func open(
    _ ciphertext: some ContiguousBytes, encapsulatedKey: PublicKey, recipient: PrivateKey,
    info: some ContiguousBytes, additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    try open(
      ciphertext, sharedSecret: sharedSecret(of: encapsulatedKey, recipient: recipient), info: info,
      additionalData: additionalData)
  }

  /// `Decap(enc, skR)`: a secret that opens the messages of this one `enc`, and says nothing of the recipient's key.
  public func sharedSecret(of encapsulatedKey: PublicKey, recipient: PrivateKey) throws(CryptoError) -> SecretBytes {
    try kem.decapsulate(encapsulatedKey, recipient: recipient)
  }

  /// `OpenBase`, given the result of its first step.
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

/// `KeySchedule(mode_base, shared_secret, info, default_psk, default_psk_id)` (RFC 9180, 5.1).
struct KeySchedule: ~Copyable {
  let key: SecretBytes
  /// Also the nonce of the first message: its sequence number is zero (RFC 9180, 5.2).
  let baseNonce: [UInt8]

  init(suite: HPKE, sharedSecret: borrowing SecretBytes, info: some ContiguousBytes) throws(CryptoError) {
    let hkdf = try LabeledHKDF(suiteID: suite.suiteID)
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    let infoHash = info.withUnsafeBytes { info in
      Result { () throws(CryptoError) in
        try hkdf.extract(salt: empty, label: "info_hash", secret: info).exposed()
      }
    }
    let modeBase: [UInt8] = [0x00]
    let context = modeBase + suite.emptyPSKIDHash + (try infoHash.get())
    let secret = try sharedSecret.withUnsafeBytes { salt throws(CryptoError) in
      try hkdf.extract(salt: salt, label: "secret", secret: empty)
    }
    let key = try hkdf.expand(secret, label: "key", info: context, length: suite.aead.keyLength)
    let baseNonce = try hkdf.expand(secret, label: "base_nonce", info: context, length: AESGCM.nonceLength)
    self.baseNonce = baseNonce.exposed()
    self.key = key
  }
}

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

/// `LabeledExtract` and `LabeledExpand` with HKDF-SHA256 (RFC 9180, 4).
///
/// One HMAC context serves all derivations of a message. It takes the parts of its inputs one by one, because joining
/// them first would cost as much as hashing them.
struct LabeledHKDF: ~Copyable {
  private let suiteID: [UInt8]
  private let mac: HMAC.Context

  private static let hashLength = 32

  init(suiteID: [UInt8]) throws(CryptoError) {
    guard let mac = HMAC.Context(hash: .sha256) else { throw .libraryFailure }
    self.suiteID = suiteID
    self.mac = mac
  }

  /// HMAC(salt, "HPKE-v1" ‖ suite_id ‖ label ‖ ikm).
  borrowing func extract(
    salt: UnsafeRawBufferPointer, label: StaticString, secret: UnsafeRawBufferPointer
  ) throws(CryptoError) -> SecretBytes {
    try SecretBytes(count: Self.hashLength) { output throws(CryptoError) in
      guard mac.begin(key: salt), updatePrefix(label), mac.update(secret), mac.finish(into: output) else {
        throw .libraryFailure
      }
    }
  }

  /// The first block of HKDF-Expand, which is all that any key, nonce or secret of the suite needs:
  /// HMAC(prk, length ‖ "HPKE-v1" ‖ suite_id ‖ label ‖ info ‖ 0x01). The info is given in two parts.
  borrowing func expand(
    _ key: borrowing SecretBytes, label: StaticString, info: [UInt8], _ rest: [UInt8] = [], length: Int
  ) throws(CryptoError) -> SecretBytes {
    precondition((1...Self.hashLength).contains(length), "one block is enough")
    return try key.withUnsafeBytes { key throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        guard expand(key, label, info, rest, into: output) else { throw .libraryFailure }
      }
    }
  }

  private borrowing func expand(
    _ key: UnsafeRawBufferPointer, _ label: StaticString, _ info: [UInt8], _ rest: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.hashLength, alignment: 1) { block in
      defer { cleanse(block) }
      let isDone =
        mac.begin(key: key)
        && withUnsafeBytes(of: UInt16(output.count).bigEndian) { mac.update($0) }
        && updatePrefix(label)
        && info.withUnsafeBytes { mac.update($0) }
        && rest.withUnsafeBytes { mac.update($0) }
        && withUnsafeBytes(of: 0x01 as UInt8) { mac.update($0) }
        && mac.finish(into: block)
      output.copyBytes(from: block[..<output.count])
      return isDone
    }
  }

  private borrowing func updatePrefix(_ label: StaticString) -> Bool {
    update("HPKE-v1") && suiteID.withUnsafeBytes { mac.update($0) } && update(label)
  }

  private borrowing func update(_ text: StaticString) -> Bool {
    mac.update(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
