import CBOR
import COSE
import Cryptography
import FuzzDriver

@testable import Mock

/// COSE_Sign1, COSE_Mac0 and COSE_Key, with keys that the fuzzer does not have.
///
/// Options: the structure, and the curve of the verifying key.
struct COSETarget: FuzzTarget {
  static let name = "cose"
  static let dictionary = [
    "\\x84\\x43\\xa1\\x01\\x26", "\\x18\\x21", "\\x18\\x22", "\\xd2", "\\xd1", "\\x38\\x22", "\\xf6",
  ]
  static let choicesBeforeCBOR: Int? = 2

  private enum Structure: Int, CaseIterable { case sign1, taggedSign1, mac0, taggedMac0, key }

  private let keys: [PrivateKey]
  private let macKey: [UInt8]
  /// The messages that were signed or authenticated with these keys.
  private let authentic: Set<[UInt8]>
  let seeds: [[UInt8]]

  init(_ material: Material) throws {
    let authority = material.authority
    let curves = Curve.allCases.filter { $0.family != .montgomery }
    keys = [material.resigner.signerKey] + (try curves.map { try authority.seed.key("fuzzing", on: $0) })
    macKey = HashAlgorithm.sha256.hash(Array("fuzzing".utf8))
    var found = Found()
    for vector in material.proximityVectors.map(\.vector) where !vector.input.isGenerated {
      guard let response = try? CBORItem(parsing: vector.input.bytes) else { continue }
      for document in response[key: "documents"]?.elementList ?? [] { found.note(document) }
    }
    let payload = Array("payload".utf8)
    for (index, key) in keys.enumerated() {
      for isDetached in [false, true] {
        let parts = try COSESign1Draft(payload: payload, isDetached: isDetached, key: key).parts()
        found.add(.sign1, index, CBORValue.array(parts).encoded())
        found.add(.taggedSign1, index, CBORValue.tagged(COSESign1.tag, .array(parts)).encoded())
      }
      found.add(.key, index, COSEKey.encode(key.publicKey).encoded())
    }
    var parts = COSEMac0Draft(payload: payload, key: macKey).parts()
    parts[2] = .bytes(payload)
    found.add(.mac0, 0, CBORValue.array(parts).encoded())
    found.add(.taggedMac0, 0, CBORValue.tagged(COSEMac0.tag, .array(parts)).encoded())
    seeds = found.seeds
    var authentic: Set<[UInt8]> = []
    for seed in seeds { Self.verified(seed, keys, macKey).map { _ = authentic.insert($0) } }
    self.authentic = authentic
  }

  func run(_ input: [UInt8]) {
    if let message = Self.verified(input, keys, macKey) {
      require(authentic.contains(message), "what verifies was signed")
    }
  }

  /// The message that the input authenticates, if any.
  private static func verified(_ input: [UInt8], _ keys: [PrivateKey], _ macKey: [UInt8]) -> [UInt8]? {
    var choices = Choices(input)
    let structure = Structure(rawValue: choices.byte() % Structure.allCases.count) ?? .sign1
    let key = keys[choices.byte() % keys.count]
    guard let item = try? CBORItem(parsing: choices.bytes) else { return nil }
    switch structure {
    case .sign1, .taggedSign1:
      guard let message = try? COSESign1(parsing: item, tag: structure == .sign1 ? nil : COSESign1.tag) else {
        return nil
      }
      look(at: message.headers)
      let payload = message.payload?.bytes ?? Array("payload".utf8)[...]
      guard message.verify(payload: payload, key: key.publicKey) == .valid else { return nil }
      return message.toBeSigned(payload: payload)
    case .mac0, .taggedMac0:
      guard let message = try? COSEMac0(parsing: item, tag: structure == .mac0 ? nil : COSEMac0.tag) else { return nil }
      look(at: message.headers)
      let payload = message.payload?.bytes ?? []
      guard message.verify(payload: payload, key: SecretBytes(copying: macKey)) == .valid else { return nil }
      return message.toBeAuthenticated(payload: payload)
    case .key:
      guard let key = (try? COSEKey(item))?.key else { return nil }
      let again = try? COSEKey(CBORItem(parsing: COSEKey.encode(key).encoded())).key
      require(again == key, "a key is written as it was read")
      return nil
    }
  }

  private static func look(at headers: COSEHeaders) {
    let chain = headers.x5chain ?? []
    require(chain.allSatisfy { !$0.isEmpty }, "no certificate is empty")
    _ = headers.x5t
    for label in [COSEHeaders.Label.algorithm, COSEHeaders.Label.keyID] {
      _ = headers.parameter(label)
    }
    let understood = [COSEHeaders.Label.algorithm, COSEHeaders.Label.x5chain, COSEHeaders.Label.x5t]
    for label in headers.parameter(COSEHeaders.Label.critical)?.elementList ?? [] {
      require(
        label.integer.map { understood.contains($0) && headers.protectedParameter($0) != nil } == true,
        "what is critical is understood, and is there")
    }
  }

  /// Seeds in the making.
  private struct Found {
    var seeds: [[UInt8]] = []

    mutating func add(_ structure: Structure, _ key: Int, _ bytes: [UInt8]) {
      seeds.append([UInt8(structure.rawValue), UInt8(key)] + bytes)
    }

    mutating func note(_ document: CBORItem) {
      guard let parts = DocumentParts(document) else { return }
      add(.sign1, 0, Array(parts.issuerAuth.encoded))
      let device = document[key: "deviceSigned"]?[key: "deviceAuth"]
      if let signature = device?[key: "deviceSignature"] { add(.sign1, 1, Array(signature.encoded)) }
      if let mac = device?[key: "deviceMac"] { add(.mac0, 0, Array(mac.encoded)) }
      if let key = parts.mso[key: "deviceKeyInfo"]?[key: "deviceKey"] { add(.key, 0, Array(key.encoded)) }
    }
  }
}
