import Base
import Cryptography

/// One file of cose-wg/Examples. Keys stand in each file, as JWK or in hexadecimal; KeySet.txt repeats the same keys in
/// CBOR diagnostic notation and is not read.
struct COSEExample {
  private let json: JSON

  init(_ json: JSON) { self.json = json }

  var title: String { json["title"]?.string ?? "" }
  /// Whether a verifier has to refuse it.
  var isWrong: Bool { json["fail"]?.bool ?? false }
  var message: [UInt8] { json["output"]?.hex("cbor") ?? [] }

  var sign1: JSON? { json["input"]?["sign0"] }
  var mac0: JSON? { json["input"]?["mac0"] }
  var toBeSigned: [UInt8]? { json["intermediates"]?.hex("ToBeSign_hex") }
  var toBeMACed: [UInt8]? { json["intermediates"]?.hex("ToMac_hex") }

  var publicKey: PublicKey? {
    guard let key = sign1?["key"] else { return nil }
    let (x, y) = (Self.bytes("x", of: key), Self.bytes("y", of: key))
    switch key["crv"]?.string.flatMap(Curve.init(rawValue:)) {
    case .ed25519?: return try? PublicKey(curve: .ed25519, encoded: x)
    case .ed448?: return try? PublicKey(curve: .ed448, encoded: x)
    case let curve?: return try? PublicKey(curve: curve, x: x, y: y)
    case nil: return nil
    }
  }

  /// The MAC's key; empty where there is none.
  var secret: [UInt8] { (mac0?["recipients"]?.array?.first?["key"]).map { Self.bytes("k", of: $0) } ?? [] }

  /// As base64url under the name, or in hexadecimal under its longer form.
  private static func bytes(_ name: String, of key: JSON) -> [UInt8] {
    key[name]?.string.flatMap { Base64.decodeURLSafe($0) } ?? key.hex(name + "_hex")
  }
}
