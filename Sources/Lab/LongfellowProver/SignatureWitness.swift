import CBOR
import Cryptography
import Longfellow

/// The signature circuit's inputs: first the statement, then what stays secret.
struct SignatureWitness {
  /// All inputs; the tags' and the verifier's key's bits are still zero.
  private(set) var inputs = Wires<FieldP256>()

  /// The numbers that both circuits know, 32 bytes big-endian each: the signed hash and the device's key.
  static func sharedNumbers(_ issuer: IssuerFacts) -> [[UInt8]] {
    [HashAlgorithm.sha256.hash(issuer.signed), issuer.deviceX, issuer.deviceY]
  }

  /// - Parameter keys: the prover's shares of the tags' keys.
  init(
    _ document: ProvableDocument, _ request: ProverRequest, issuer: IssuerFacts, keys: [FieldGF128]
  ) throws(ProverRefusal) {
    guard case .signature(let signature) = document.device else { throw .deviceMAC }
    guard signature.count == 64 else { throw .deviceSignature }
    let shared = Self.sharedNumbers(issuer)
    let deviceHash = Self.deviceHash(documentType: document.documentType, transcript: request.transcript)
    inputs.append(.one)
    for number in [issuer.issuerX, issuer.issuerY, deviceHash] { inputs.append(FieldP256(bigEndian: number)) }
    inputs.append(contentsOf: [FieldP256](repeating: .zero, count: 7 * 128))
    for number in shared { inputs.append(FieldP256(bigEndian: number)) }
    let issued = try ECDSAWitness(
      x: issuer.issuerX, y: issuer.issuerY, hash: shared[0], signature: issuer.signature, refusal: .issuerSignature)
    inputs.append(contentsOf: issued.wires)
    let signed = try ECDSAWitness(
      x: issuer.deviceX, y: issuer.deviceY, hash: deviceHash, signature: signature, refusal: .deviceSignature)
    inputs.append(contentsOf: signed.wires)
    for (index, number) in shared.enumerated() {
      append(pairsOf: keys[2 * index].bytes)
      append(pairsOf: keys[2 * index + 1].bytes)
      append(pairsOf: number.reversed())
    }
  }

  /// Two bits a wire, the lowest first, as 2·v − 3.
  private mutating func append(pairsOf bytes: [UInt8]) {
    let values = (0..<4).map { FieldP256.point(2 * $0) - .point(3) }
    for byte in bytes {
      for pair in 0..<4 { inputs.append(values[Int(byte >> UInt8(2 * pair)) & 3]) }
    }
  }

  /// - Parameter tags: the six tags, then the verifier's key.
  mutating func set(tags: [FieldGF128]) {
    var bits = Wires<FieldP256>()
    for tag in tags { bits.append(bits: tag.bytes) }
    inputs.replace(at: 4, with: bits.values)
  }

  /// The hash that the device signs (ISO/IEC 18013-5, 9.1.3.4), with empty DeviceNameSpaces.
  private static func deviceHash(documentType: String, transcript: [UInt8]) -> [UInt8] {
    let authentication = CBORValue.array([
      "DeviceAuthentication", .encoded(transcript), .text(documentType), .embedded([:]),
    ])
    let structure = CBORValue.array([
      "Signature1", .bytes([0xa1, 0x01, 0x26]), .bytes([]), .bytes(CBORValue.embedded(authentication).encoded()),
    ])
    return HashAlgorithm.sha256.hash(structure.encoded())
  }
}
