import CBOR
import Cryptography
import FoundationEssentials
import Primitives
import TestSupport

/// One file of cose-wg/Examples. Keys stand in each file, as JWK or in hexadecimal; KeySet.txt repeats the same keys in
/// CBOR diagnostic notation and is not read.
struct COSEVector: Decodable {
  struct Input: Decodable {
    let sign0: Message?
    let mac0: Message?
  }
  struct Message: Decodable {
    let key: Key?
    let external: HexBytes?
    let recipients: [Recipient]?
  }
  struct Recipient: Decodable { let key: Key? }
  struct Output: Decodable { let cbor: HexBytes }
  struct Intermediates: Decodable {
    let toBeSigned: HexBytes?
    let toBeMACed: HexBytes?

    enum CodingKeys: String, CodingKey {
      case toBeSigned = "ToBeSign_hex"
      case toBeMACed = "ToMac_hex"
    }
  }
  struct Key: Decodable {
    let kty: String
    let crv: String?
    let x: Base64Text?
    let y: Base64Text?
    let k: Base64Text?
    let xHex: HexBytes?
    let yHex: HexBytes?
    let kHex: HexBytes?

    enum CodingKeys: String, CodingKey {
      case kty, crv, x, y, k
      case xHex = "x_hex"
      case yHex = "y_hex"
      case kHex = "k_hex"
    }

    var xBytes: [UInt8] { x?.bytes ?? xHex?.bytes ?? [] }
    var yBytes: [UInt8] { y?.bytes ?? yHex?.bytes ?? [] }
    var secret: [UInt8] { k?.bytes ?? kHex?.bytes ?? [] }
  }
  struct Base64Text: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      guard let bytes = Base64.decodeURLSafe(try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64url")
      }
      self.bytes = bytes
    }
  }

  let title: String
  let fail: Bool?
  let input: Input
  let intermediates: Intermediates?
  let output: Output

}

extension COSEVector.Key {
  private struct UnknownCurve: Error { let name: String }

  func publicKey() throws -> PublicKey {
    switch crv {
    case "P-256": try PublicKey(curve: .p256, x: xBytes, y: yBytes)
    case "P-384": try PublicKey(curve: .p384, x: xBytes, y: yBytes)
    case "P-521": try PublicKey(curve: .p521, x: xBytes, y: yBytes)
    case "Ed25519": try PublicKey(curve: .ed25519, encoded: xBytes)
    case "Ed448": try PublicKey(curve: .ed448, encoded: xBytes)
    default: throw UnknownCurve(name: crv ?? "none")
    }
  }
}
