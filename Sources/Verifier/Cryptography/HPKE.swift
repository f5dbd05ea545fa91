import FoundationEssentials

/// HPKE, base mode, single shot (RFC 9180, 6.1), with the only suite of the mdoc protocols: DHKEM(P-256, HKDF-SHA256),
/// HKDF-SHA256, AES-128-GCM.
public struct HPKE: Sendable {
  public static let p256SHA256AES128GCM = HPKE()

  private static let curve = Curve.p256
  private static let keyLength = 16
  private static let secretLength = 32
  private let kemIdentifier: [UInt8] = [0x00, 0x10]
  /// `suite_id` of the encapsulation (RFC 9180, 4.1).
  private let kemSuiteID: [UInt8]
  /// `suite_id` of the key schedule (RFC 9180, 5.1): "HPKE", KEM, KDF, AEAD.
  private let suiteID: [UInt8]
  /// `psk_id_hash` of the key schedule. In base mode `psk_id` is empty.
  private let emptyPSKIDHash: [UInt8]

  private init() {
    kemSuiteID = Array("KEM".utf8) + kemIdentifier
    suiteID = Array("HPKE".utf8) + kemIdentifier + [0x00, 0x01] + [0x00, 0x01]
    // LabeledExtract("", "psk_id_hash", "")
    let labeled = Array("HPKE-v1".utf8) + suiteID + Array("psk_id_hash".utf8)
    emptyPSKIDHash = HMAC.authenticate(labeled, key: SecretBytes(copying: [UInt8]()), hash: .sha256)
  }

  /// `OpenBase(enc, skR, info, aad, ct)` for the first and only message.
  ///
  /// - Throws: `invalidPublicKey` if `enc` is not a point on the curve, `decryptionFailed` otherwise.
  public func open(
    _ ciphertext: some ContiguousBytes, encapsulatedKey: some Collection<UInt8>, recipient: PrivateKey,
    info: some ContiguousBytes, additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    try open(
      ciphertext, encapsulatedKey: PublicKey(curve: Self.curve, encoded: encapsulatedKey), recipient: recipient,
      info: info, additionalData: additionalData)
  }

  /// Opens with an imported `enc`.
  public func open(
    _ ciphertext: some ContiguousBytes, encapsulatedKey: PublicKey, recipient: PrivateKey,
    info: some ContiguousBytes, additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    try open(
      ciphertext, sharedSecret: sharedSecret(of: encapsulatedKey, recipient: recipient), info: info,
      additionalData: additionalData)
  }

  /// Opens with the result of `sharedSecret(of:recipient:)`.
  public func open(
    _ ciphertext: some ContiguousBytes, sharedSecret: borrowing SecretBytes, info: some ContiguousBytes,
    additionalData: some ContiguousBytes = [UInt8]()
  ) throws(CryptoError) -> [UInt8] {
    let context = try keySchedule(sharedSecret, info: info)
    return try AESGCM.open(ciphertext, key: context.key, nonce: context.baseNonce, additionalData: additionalData)
  }

  /// `SealBase(pkR, info, aad, pt)`. The ephemeral key is fresh unless given.
  public func seal(
    _ plaintext: some ContiguousBytes, to recipient: PublicKey, info: some ContiguousBytes,
    additionalData: some ContiguousBytes = [UInt8](), ephemeralKey: PrivateKey? = nil
  ) throws(CryptoError) -> (encapsulatedKey: [UInt8], ciphertext: [UInt8]) {
    let ephemeral: PrivateKey
    if let ephemeralKey { ephemeral = ephemeralKey } else { ephemeral = try PrivateKey(generatingOn: Self.curve) }
    let context = try keySchedule(encapsulate(to: recipient, ephemeral: ephemeral), info: info)
    let ciphertext = try AESGCM.seal(
      plaintext, key: context.key, nonce: context.baseNonce, additionalData: additionalData)
    return (ephemeral.publicKey.encoded, ciphertext)
  }

  // MARK: Encapsulation (RFC 9180, 4.1)

  /// `Decap(enc, skR)`: a secret that opens messages with this `enc` and reveals nothing about the recipient's key.
  public func sharedSecret(of encapsulatedKey: PublicKey, recipient: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try recipient.sharedSecret(with: encapsulatedKey)
    return try extractAndExpand(dh, ephemeral: encapsulatedKey, recipient: recipient.publicKey)
  }

  /// `Encap(pkR)` with a given ephemeral key.
  func encapsulate(to recipient: PublicKey, ephemeral: PrivateKey) throws(CryptoError) -> SecretBytes {
    let dh = try ephemeral.sharedSecret(with: recipient)
    return try extractAndExpand(dh, ephemeral: ephemeral.publicKey, recipient: recipient)
  }

  private func extractAndExpand(
    _ dh: borrowing SecretBytes, ephemeral: PublicKey, recipient: PublicKey
  ) throws(CryptoError) -> SecretBytes {
    let hkdf = try LabeledHKDF(suiteID: kemSuiteID)
    let pseudorandomKey = try dh.withUnsafeBytes { dh throws(CryptoError) in
      try hkdf.extract(salt: UnsafeRawBufferPointer(start: nil, count: 0), label: "eae_prk", secret: dh)
    }
    return try hkdf.expand(
      pseudorandomKey, label: "shared_secret", info: ephemeral.encoded, recipient.encoded, length: Self.secretLength)
  }

  // MARK: Key schedule (RFC 9180, 5.1)

  /// `baseNonce` is also the first message's nonce, since that message's sequence number is zero (RFC 9180, 5.2).
  struct Context: ~Copyable {
    let key: SecretBytes
    let baseNonce: [UInt8]
  }

  /// `KeySchedule(mode_base, shared_secret, info, default_psk, default_psk_id)`.
  func keySchedule(_ sharedSecret: borrowing SecretBytes, info: some ContiguousBytes) throws(CryptoError) -> Context {
    let hkdf = try LabeledHKDF(suiteID: suiteID)
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    let infoHash = info.withUnsafeBytes { info in
      Result { () throws(CryptoError) in
        try hkdf.extract(salt: empty, label: "info_hash", secret: info).exposed()
      }
    }
    let modeBase: [UInt8] = [0x00]
    let context = modeBase + emptyPSKIDHash + (try infoHash.get())
    let secret = try sharedSecret.withUnsafeBytes { salt throws(CryptoError) in
      try hkdf.extract(salt: salt, label: "secret", secret: empty)
    }
    let nonce = try hkdf.expand(secret, label: "base_nonce", info: context, length: AESGCM.nonceLength).exposed()
    return Context(key: try hkdf.expand(secret, label: "key", info: context, length: Self.keyLength), baseNonce: nonce)
  }
}

/// `LabeledExtract` and `LabeledExpand` with HKDF-SHA256 (RFC 9180, 4).
///
/// One HMAC context serves all derivations of a message. Inputs are hashed part by part: joining the parts first costs
/// as much as hashing them.
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

  /// The first block of HKDF-Expand, which is enough for the suite's keys, nonces and secrets: HMAC(prk, length ‖
  /// "HPKE-v1" ‖ suite_id ‖ label ‖ info ‖ 0x01). The info is passed in two parts.
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
