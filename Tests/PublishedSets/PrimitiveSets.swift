import Base
import CBOR
import COSE
import Cryptography
import Vectors

/// The Brainpool curves' parameters (RFC 5639) and their numbers in COSE (RFC 9864).
struct BrainpoolSet: PublishedSet {
  let name = "brainpool"

  private static let file = "rfc5639-domain-parameters.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    (try folder.json(Self.file).object ?? []).map { member in
      PublishedCase(
        part: "", id: member.name, description: "Parameters and numbers of \(member.name).", reference: "RFC 5639, 3",
        flag: VectorFlag("CurveParameters", .forgery), expectation: .accepted,
        judge: { Self.finding(on: member.name, member.value) })
    }
  }

  private static func finding(on name: String, _ parameters: JSON) -> PublishedCase.Finding {
    guard let curve = CurveParameters.curve(named: name) else { return .skipped("\(name) is not used by mdoc") }
    guard parameters["fieldBytes"]?.integer == Int64(curve.coordinateLength) else {
      return .other("its field has another length")
    }
    for algorithm in parameters["coseAlgFullySpecified"]?.object ?? [] {
      let ours = algorithm.value.integer.flatMap(SignatureAlgorithm.init(coseIdentifier:))
      guard ours?.name == algorithm.name, ours?.coseCurves == [curve],
        ours?.hash.map({ "SHA-\($0.digestLength * 8)" }) == parameters["hash"]?.string
      else { return .other("\(algorithm.name) is another algorithm") }
    }
    guard hasNumber(parameters["coseCrv"]?.integer, curve) else { return .other("its number in COSE is another") }
    return CurveParameters.finding(on: curve, parameters)
  }

  /// Whether a COSE_Key on the curve is written with this number as its `crv` (label -1, encoded 0x20).
  private static func hasNumber(_ number: Int64?, _ curve: Curve) -> Bool {
    guard let number, let key = try? PrivateKey(generatingOn: curve).publicKey,
      case .map(let entries) = COSEKey.encode(key)
    else { return false }
    return entries.contains { $0.key.encoded() == [0x20] && $0.value.encoded() == CBORValue.integer(number).encoded() }
  }
}

/// Compares a curve's published parameters with the curve that this program computes on.
enum CurveParameters {
  /// The curve of a name in SEC 2, RFC 5639, RFC 7748 or JOSE; nil if it is not implemented here.
  static func curve(named name: String) -> Curve? {
    switch name {
    case "secp256r1": .p256
    case "secp384r1": .p384
    case "secp521r1": .p521
    case "edwards25519": .ed25519
    case "edwards448": .ed448
    case "curve25519": .x25519
    case "curve448": .x448
    default: Curve(rawValue: name).flatMap { $0.family == .weierstrass ? $0 : nil }
    }
  }

  /// Checks that the generator G is on the curve, 1·G = G, (n − 1)·G = −G, and n is refused as a scalar.
  static func finding(on curve: Curve, _ parameters: JSON) -> PublishedCase.Finding {
    let x = padded(parameters.hex("gx"), curve)
    let y = padded(parameters.hex("gy"), curve)
    let order = padded(parameters.hex("n"), curve)
    guard let generator = try? PublicKey(curve: curve, x: x, y: y) else { return .other("its generator is refused") }
    // Flipping the last bit moves y off the point here. Below, it makes n − 1 of the order n, which is odd.
    guard (try? PublicKey(curve: curve, x: x, y: lastBitFlipped(y))) == nil else {
      return .other("a point beside its generator is taken")
    }
    let one = [UInt8](repeating: 0, count: curve.coordinateLength - 1) + [1]
    guard (try? PrivateKey(curve: curve, scalar: one))?.publicKey == generator else {
      return .other("its generator is another")
    }
    let opposite = (try? PrivateKey(curve: curve, scalar: lastBitFlipped(order)))?.publicKey
    guard opposite?.coordinates.map({ Array($0.x) }) == x, opposite != generator,
      (try? PrivateKey(curve: curve, scalar: order)) == nil
    else { return .other("its order is another") }
    return .accepted
  }

  /// The number with the field's length: published numbers have an extra leading zero or lack one.
  static func padded(_ number: [UInt8], _ curve: Curve) -> [UInt8] {
    let digits = Array(number.drop { $0 == 0 })
    return [UInt8](repeating: 0, count: max(0, curve.coordinateLength - digits.count)) + digits
  }

  private static func lastBitFlipped(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + bytes.suffix(1).map { $0 ^ 1 } }
}

/// The test vectors of RFC 9180. This project implements one of their suites, in base mode.
struct HPKESet: PublishedSet {
  let name = "hpke"

  private static let file = "rfc9180-vectors-trimmed.json"
  private static let ours = "mode 0, KEM 0x0010, KDF 0x0001, AEAD 0x0001"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    (try folder.json(Self.file).array ?? []).enumerated().map { index, vector in
      let suite = Self.suite(of: vector)
      return PublishedCase(
        part: "", id: "\(index + 1)", description: "\(suite).", reference: "RFC 9180, 6.1",
        flag: VectorFlag("HPKE", .interoperability), expectation: .accepted,
        judge: { suite == Self.ours ? Self.finding(on: vector) : .skipped("another suite than that of \(Self.ours)") })
    }
  }

  private static func suite(of vector: JSON) -> String {
    func hex(_ name: String) -> String {
      let value = UInt16(truncatingIfNeeded: vector[name]?.integer ?? 0)
      return "0x" + Hex.encode([UInt8(value >> 8), UInt8(value & 0xff)])
    }
    return "mode \(vector["mode"]?.integer ?? -1), KEM \(hex("kem_id")), KDF \(hex("kdf_id")), AEAD \(hex("aead_id"))"
  }

  private static func finding(on vector: JSON) -> PublishedCase.Finding {
    let messages = vector["encryptions"]?.array ?? []
    guard let recipient = try? PrivateKey(curve: .p256, scalar: vector.hex("skRm")),
      let ephemeral = try? PrivateKey(curve: .p256, scalar: vector.hex("skEm")), let first = messages.first
    else { return .other("its keys are refused") }
    let (hpke, info) = (HPKE.p256SHA256AES128GCM, vector.hex("info"))
    func opened(_ message: JSON) -> [UInt8]? {
      try? hpke.open(
        message.hex("ct"), encapsulatedKey: vector.hex("enc"), recipient: recipient, info: info,
        additionalData: message.hex("aad"))
    }
    let sealed = try? hpke.seal(
      first.hex("pt"), to: recipient.publicKey, info: info, additionalData: first.hex("aad"), ephemeralKey: ephemeral)
    guard sealed?.encapsulatedKey == vector.hex("enc"), sealed?.ciphertext == first.hex("ct") else {
      return .other("sealed to other bytes")
    }
    guard let plaintext = opened(first) else { return .refused() }
    guard plaintext == first.hex("pt") else { return .other("opened to another plaintext") }
    // Later messages are sealed under other nonces, so a single-shot open must fail on them.
    return messages.dropFirst().allSatisfy { opened($0) == nil } ? .accepted : .other("opened a later message")
  }
}

extension JSON {
  /// The bytes of a hexadecimal member; empty if there is none.
  func hex(_ name: String) -> [UInt8] { self[name]?.string.flatMap { Hex.decode($0) } ?? [] }
}
