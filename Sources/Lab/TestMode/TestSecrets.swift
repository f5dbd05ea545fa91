import App
import Base
import Cryptography
import FoundationEssentials
import Glibc
import Mock
import PKIX
import Presentation
import Sessions

/// The secrets of one test server, all derived from one seed.
struct TestSecrets {
  private static let salt = Array("mdoc test mode 1".utf8)
  private let seed: [UInt8]
  let authoritySeed: [UInt8]
  let apiKey: String
  let encryptionKey: PrivateKey
  /// 20000 to 29999: below the ports that the system assigns by itself.
  let publisherPort: UInt16

  init(seed: [UInt8]?) throws(StartError) {
    do throws(CryptoError) {
      let seed = if let seed { seed } else { try Random.bytes(32) }
      self.seed = seed
      authoritySeed = seed
      apiKey = "mdoc_test_" + Hex.encode(try Self.derive("api key", from: seed).exposed())
      encryptionKey = try Self.key(from: seed)
      let number = try Self.derive("publisher port", from: seed).exposed().prefix(2)
      publisherPort = 20_000 + number.reduce(0) { $0 << 8 | UInt16($1) } % 10_000
    } catch {
      throw .unavailable("no keys could be made: \(error)")
    }
  }

  func sealingKey() throws(ConfigurationError) -> SealingKey {
    let key: SecretBytes
    do throws(CryptoError) { key = try Self.derive("sealing", from: seed) } catch {
      throw ConfigurationError("no sealing key could be made")
    }
    return try SealingKey(id: "test", key: key)
  }

  func webhookSecret() throws(StartError) -> WebhookSecret {
    do throws(CryptoError) {
      if let secret = WebhookSecret(try Self.derive("webhook", from: seed)) { return secret }
    } catch {}
    throw .unavailable("no webhook secret could be made")
  }

  private static func derive(_ label: String, from seed: [UInt8]) throws(CryptoError) -> SecretBytes {
    try HKDF.deriveKey(from: SecretBytes(copying: seed), salt: salt, info: Array(label.utf8), length: 32)
  }

  /// One scalar in 2³² is not below the order of P-256. A second one is derived in that case.
  private static func key(from seed: [UInt8]) throws(CryptoError) -> PrivateKey {
    do throws(CryptoError) {
      return try PrivateKey(curve: .p256, scalar: derive("encryption", from: seed).exposed())
    } catch {
      return try PrivateKey(curve: .p256, scalar: derive("encryption, again", from: seed).exposed())
    }
  }
}

/// Test mode's reader. It signs its requests as a real relying party does, under the mock reader authority.
enum TestReaderIdentity {
  /// - Parameter host: the host of the public address, since ISO/IEC TS 18013-7, Annex B names readers by it.
  static func identity(
    of authority: MockAuthority, named host: String, at now: Timestamp
  ) throws(StartError) -> (reader: ReaderIdentity, root: [UInt8]) {
    do {
      let mock = try authority.reader(dnsName: host, at: now)
      let certificates = try mock.certificates.map { try Certificate(der: $0) }
      return (try ReaderIdentity(key: mock.key, certificates: certificates), mock.root)
    } catch {
      throw .unavailable("the mock reader failed: \(error)")
    }
  }
}

/// A new folder for the store of a test server. Only its owner can read it.
enum TemporaryStore {
  static func makeFolder() throws(StartError) -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/mdoc-test-XXXXXX".utf8CString)
    let folder = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    guard let folder else { throw .unavailable("\(base): no folder can be made") }
    return folder
  }

  static func remove(_ folder: String) {
    // If a file cannot be removed, it stays: it holds nothing but test data.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
