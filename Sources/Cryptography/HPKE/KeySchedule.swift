import FoundationEssentials

/// `KeySchedule(mode_base, shared_secret, info, default_psk, default_psk_id)` (RFC 9180, 5.1).
struct KeySchedule: ~Copyable {
  let key: SecretBytes
  /// Also the nonce of the first message: its sequence number is zero (RFC 9180, 5.2).
  let baseNonce: [UInt8]

  init(suite: HPKE, sharedSecret: borrowing SecretBytes, info: some ContiguousBytes) throws(CryptoError) {
    let label = LabeledHKDF(suiteID: suite.suiteID)
    let empty = SecretBytes(copying: [UInt8]())
    let pskIDHash = try label.extract(salt: [], label: "psk_id_hash", secret: empty)
    let infoHash = try label.extract(salt: [], label: "info_hash", secret: SecretBytes(copying: info))
    let modeBase: [UInt8] = [0x00]
    let context = modeBase + pskIDHash.exposed() + infoHash.exposed()
    let secret = try sharedSecret.withUnsafeBytes { salt throws(CryptoError) in
      try label.extract(salt: Array(salt), label: "secret", secret: empty)
    }
    let key = try label.expand(secret, label: "key", info: context, length: suite.aead.keyLength)
    let baseNonce = try label.expand(secret, label: "base_nonce", info: context, length: AESGCM.nonceLength)
    self.baseNonce = baseNonce.exposed()
    self.key = key
  }
}

/// `LabeledExtract` and `LabeledExpand` (RFC 9180, 4).
struct LabeledHKDF {
  let suiteID: [UInt8]

  private static let version = Array("HPKE-v1".utf8)

  func extract(salt: [UInt8], label: String, secret: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
    let prefix = Self.version + suiteID + label.utf8
    let labeled = try SecretBytes(count: prefix.count + secret.count) { buffer throws(CryptoError) in
      buffer.copyBytes(from: prefix)
      secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...]).copyBytes(from: $0) }
    }
    return try HKDF.extract(labeled, salt: salt)
  }

  func expand(_ key: borrowing SecretBytes, label: String, info: [UInt8], length: Int) throws(CryptoError)
    -> SecretBytes
  {
    let lengthOctets = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    return try HKDF.expand(key, info: lengthOctets + Self.version + suiteID + label.utf8 + info, length: length)
  }
}
