import Cryptography
import Testing

/// Private keys as `openssl pkcs8 -topk8` encrypts them.
@Suite struct EncryptedPEMTests {
  private static func pem(_ label: String, _ lines: [String]) -> [UInt8] {
    Array((["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n").utf8)
  }

  private static func passphrase(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  static let plain = pem(
    "PRIVATE KEY",
    [
      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTd05EWeLh6eGrwc3",
      "HKz4gCqgeE0YKjObGzqssS6zU+ShRANCAAS4WDiqits7R1ZD3s9b6omZpCDmD6DQ",
      "lK1j2JgAXSmzZqOLVmaGrplGx6ChSQaHZNYkVMezswz9byMC1RvlGNm6",
    ])

  /// PBKDF2 and AES-256-CBC, OpenSSL's default.
  static let pbkdf2 = pem(
    "ENCRYPTED PRIVATE KEY",
    [
      "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgfrEYHaf8X2AICCAAw",
      "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFdYPvp7Eef/VgTGjs4KenkEgZBK",
      "QxSOY0MET9mWpXMQJ6FGBr0ROh3d0J6OG/aki9osUrFntSO/87/hy1JpD9WwSRac",
      "CqgobXsE5glNCNR03kd0woWQvI09M3wauV6PtFK3YfdDwNgV6fFH6A9ZRJ04htgr",
      "Z/D+craqy3+GgbWqkLHynBMF5Fg8ssRwPjsEO17GfuDGz7B5g3e1yTn5ExcnGGs=",
    ])

  static let scrypt = pem(
    "ENCRYPTED PRIVATE KEY",
    [
      "MIHkME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAigDmKGkakiMgICBAAC",
      "AQgCAQEwHQYJYIZIAWUDBAEqBBDqRuTtKIcJlyhg59tuY9ZXBIGQAuXSa1EMbWbg",
      "OSdvjdR2UpXVOCrzZ0p+GrSJwAxKcv0WI09R9gbQGcbH3eomupdiesn1a2ly6QDr",
      "Z6rjSoNuS66tR/N9iJ8zLbLGx4KvNeBTFglx15A9ztDlOG5myNX6uRGwjgsACvVQ",
      "KG5eCD6U0mzZh0tYaUAk4jOG6tmGcyEghkZiFbXR0qpR9siIH4mu",
    ])

  @Test(arguments: [pbkdf2, scrypt])
  func `an encrypted key opens only with its passphrase`(_ encrypted: [UInt8]) throws {
    let expected = try PrivateKey(pem: Self.plain).publicKey
    #expect(try PrivateKey(pem: encrypted, passphrase: Self.passphrase("correct horse")).publicKey == expected)
    #expect(throws: CryptoError.passphraseRequired) { try PrivateKey(pem: encrypted) }
    for wrong in ["", "correct", "correct horse ", String(repeating: "x", count: 4_096)] {
      #expect(throws: CryptoError.passphraseWrong) {
        try PrivateKey(pem: encrypted, passphrase: Self.passphrase(wrong))
      }
    }
  }

  @Test func `a key that is not encrypted needs no passphrase, and garbage is no wrong passphrase`() throws {
    #expect(try PrivateKey(pem: Self.plain, passphrase: Self.passphrase("any")).curve == .p256)
    #expect(throws: CryptoError.invalidPrivateKey) {
      try PrivateKey(pem: Array("none".utf8), passphrase: Self.passphrase("any"))
    }
  }
}
