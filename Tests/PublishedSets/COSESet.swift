import Base
import CBOR
import COSE
import Cryptography
import Vectors

/// The COSE working group's examples of the two structures that mdoc uses, Sign1 and Mac0. An example that needs
/// something else is skipped by its name. Any other result than the example's own is a failure.
struct COSESet: PublishedSet {
  let name = "cose-wg"

  private static let folders = [
    "CWT", "ecdsa-examples", "eddsa-examples", "hmac-examples", "mac0-tests", "sign1-tests",
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has("sign1-tests/sign-pass-01.json") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for part in try folder.folders() where Self.folders.contains(part.name) {
      for file in try part.files() where file.hasSuffix(".json") {
        let example = COSEExample(try part.json(file))
        cases.append(
          PublishedCase(
            part: part.name, id: String(file.dropLast(".json".count)), description: "\(example.title).",
            reference: "RFC 9052", flag: VectorFlag("COSE", example.isWrong ? .forgery : .interoperability),
            expectation: example.isWrong ? .refused([]) : .accepted, judge: { Self.finding(on: example) }))
      }
    }
    return cases
  }

  private static func finding(on example: COSEExample) -> PublishedCase.Finding {
    guard let item = try? CBORItem(parsing: example.message) else { return .refused() }
    if let input = example.sign1 { return signed(item, example, input) }
    if let input = example.mac0 { return authenticated(item, example, input) }
    switch item.tag {
    case 98: return .skipped("COSE_Sign")
    case 97: return .skipped("COSE_Mac")
    case 16: return .skipped("COSE_Encrypt0")
    default: return .other("its structure is not known")
    }
  }

  private static func signed(_ item: CBORItem, _ example: COSEExample, _ input: JSON) -> PublishedCase.Finding {
    guard let message = try? COSESign1(parsing: item, tag: item.tag.map { _ in COSESign1.tag }) else {
      return .refused()
    }
    guard let key = example.publicKey else { return .other("its key is refused") }
    let payload = message.payload?.bytes ?? []
    let aad = input.hex("external")
    let bytes = message.toBeSigned(payload: payload, externalAAD: aad)
    guard example.isWrong || bytes == example.toBeSigned else { return .other("its Sig_structure is another") }
    switch message.verify(payload: payload, key: key, externalAAD: aad) {
    case .valid: return .accepted
    case .invalid: return .refused()
    case .keyMismatch: return example.isWrong ? .refused() : .skipped("alg with another curve")
    case .algorithmUnsupported: return unsupported(message.headers, example, "another signature algorithm")
    }
  }

  private static func authenticated(
    _ item: CBORItem, _ example: COSEExample, _ input: JSON
  ) -> PublishedCase.Finding {
    guard let message = try? COSEMac0(parsing: item, tag: item.tag.map { _ in COSEMac0.tag }) else {
      return .refused()
    }
    guard !example.secret.isEmpty else { return .other("it has no key") }
    let payload = message.payload?.bytes ?? []
    let aad = input.hex("external")
    let bytes = message.toBeAuthenticated(payload: payload, externalAAD: aad)
    guard example.isWrong || bytes == example.toBeMACed else { return .other("its MAC_structure is another") }
    switch message.verify(payload: payload, key: SecretBytes(copying: example.secret), externalAAD: aad) {
    case .valid: return .accepted
    case .invalid: return .refused()
    case .algorithmUnsupported:
      let names: [Int64: String] = [4: "HMAC 256/64", 6: "HMAC 384/384", 7: "HMAC 512/512"]
      let name = message.headers.algorithmIdentifier.flatMap { names[$0] }
      return unsupported(message.headers, example, name ?? "another MAC")
    }
  }

  private static func unsupported(
    _ headers: COSEHeaders, _ example: COSEExample, _ name: String
  ) -> PublishedCase.Finding {
    if example.isWrong { return .refused() }
    let isUnprotected = headers.algorithmIdentifier == nil && headers.parameter(COSEHeaders.Label.algorithm) != nil
    return .skipped(isUnprotected ? "alg only in the unprotected header" : name)
  }
}

/// One file of cose-wg/Examples. Each file contains its keys, as JWK or in hexadecimal. KeySet.txt, which is not read,
/// repeats the same keys in CBOR diagnostic notation.
struct COSEExample {
  private let json: JSON

  init(_ json: JSON) { self.json = json }

  var title: String { json["title"]?.string ?? "" }
  /// Whether a verifier must refuse it.
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

  /// The MAC's key; empty if there is none.
  var secret: [UInt8] { (mac0?["recipients"]?.array?.first?["key"]).map { Self.bytes("k", of: $0) } ?? [] }

  /// A key's member: base64url under `name`, or hexadecimal under `name` with `_hex`.
  private static func bytes(_ name: String, of key: JSON) -> [UInt8] {
    key[name]?.string.flatMap { Base64.decodeURLSafe($0) } ?? key.hex(name + "_hex")
  }
}
