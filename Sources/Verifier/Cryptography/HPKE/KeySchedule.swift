import FoundationEssentials

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
