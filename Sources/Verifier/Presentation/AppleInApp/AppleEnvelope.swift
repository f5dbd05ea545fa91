import Base
import CBOR
import Cryptography

/// The HPKEEnvelope of Apple's in-app requests (Apple, Verifying Wallet identity requests), checked in its own right
/// and not yet opened.
struct AppleEnvelope {
  let encapsulatedKey: PublicKey
  let recipientKeyHash: ArraySlice<UInt8>
  let transcriptHash: ArraySlice<UInt8>
  let ciphertext: ArraySlice<UInt8>

  static let algorithm = "APPLE-HPKE-v1"
  private static let hashLength = 32

  /// Notes each check; nil where one failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes)
    } catch {
      checks.failed(error.code)
      return nil
    }
    guard let algorithm = item[key: "algorithm"], algorithm.kind == .text,
      let parameters = item[key: "params"],
      let mode = parameters[key: "mode"]?.unsigned, let encapsulatedKey = parameters[key: "pkEm"]?.bytes,
      let recipientKeyHash = parameters[key: "pkRHash"]?.bytes, let transcriptHash = parameters[key: "infoHash"]?.bytes,
      let ciphertext = item[key: "data"]?.bytes, recipientKeyHash.count == Self.hashLength,
      transcriptHash.count == Self.hashLength
    else {
      checks.failed(.envelopeMalformed)
      return nil
    }
    checks.passed(.envelopeMalformed)
    self.recipientKeyHash = recipientKeyHash
    self.transcriptHash = transcriptHash
    self.ciphertext = ciphertext
    checks.require(algorithm.isText(Self.algorithm), .envelopeAlgorithmUnsupported)
    checks.require(mode == 0, .envelopeModeUnsupported)
    let point = try? PublicKey(curve: .p256, encoded: encapsulatedKey)
    checks.require(point != nil, .envelopeEncapsulatedKeyInvalid)
    guard let point, !checks.hasFailed else { return nil }
    self.encapsulatedKey = point
  }
}
