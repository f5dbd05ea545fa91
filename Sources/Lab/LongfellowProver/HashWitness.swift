import CBOR
import Cryptography
import Longfellow

/// The hash circuit's inputs: first the statement, then what stays secret.
struct HashWitness {
  /// All inputs; the tags and the verifier's key are still zero.
  private(set) var inputs = Wires<FieldGF128>()
  private var publicInputs = 0

  private static let nibbles = (0..<16).map { FieldGF128.point(2 * $0) + .point(15) }

  /// - Parameter keys: the prover's shares of the tags' keys.
  init(
    _ request: ProverRequest, issuer: IssuerFacts, elements: [ElementFacts], version: Int, keys: [FieldGF128]
  ) throws(ProverRefusal) {
    appendStatement(request, version: version)
    publicInputs = inputs.count
    let blocks = version == 6 ? 35 : 40
    let message = BlockHashing.padded(issuer.signed, blocks: blocks)
    guard message.used <= blocks else { throw .securityObjectTooLong }
    for number in [HashAlgorithm.sha256.hash(issuer.signed), issuer.deviceX, issuer.deviceY] {
      inputs.append(bits: number.reversed())
    }
    inputs.append(bits: message.used, 8)
    inputs.append(bits: message.bytes.dropFirst(18))
    append(blocksOf: message.bytes)
    for offset in [issuer.validFrom, issuer.validUntil, issuer.deviceKeyInfo, issuer.valueDigests] {
      inputs.append(bits: offset, 12)
    }
    for element in elements { append(element, version: version) }
    inputs.append(contentsOf: keys)
  }

  private mutating func appendStatement(_ request: ProverRequest, version: Int) {
    inputs.append(.one)
    for element in request.elements {
      let text = CBORValue.text(element.identifier).encoded()
      if version == 6 {
        let pair = text + CBORValue.text("elementValue").encoded() + element.value
        append(pair, filledTo: 96)
        inputs.append(bits: pair.count, 8)
      } else {
        append(text, filledTo: 32)
        append(element.value, filledTo: 64)
        inputs.append(bits: 19 + element.identifier.utf8.count, 8)
        inputs.append(bits: 13 + element.value.count, 8)
      }
    }
    inputs.append(bits: request.timestamp.utf8)
    inputs.append(contentsOf: [FieldGF128](repeating: .zero, count: 7))
  }

  private mutating func append(_ bytes: [UInt8], filledTo count: Int) {
    inputs.append(bits: bytes + [UInt8](repeating: 0, count: count - bytes.count))
  }

  private mutating func append(blocksOf bytes: [UInt8]) {
    var hashing = BlockHashing()
    for start in stride(from: 0, to: bytes.count, by: 64) {
      for word in hashing.absorb(bytes[start..<(start + 64)]) {
        for nibble in 0..<8 { inputs.append(Self.nibbles[Int(word >> UInt32(4 * nibble)) & 15]) }
      }
    }
  }

  private mutating func append(_ element: ElementFacts, version: Int) {
    let item = BlockHashing.padded(element.item, blocks: 2).bytes
    inputs.append(bits: item)
    append(blocksOf: item)
    inputs.append(bits: element.digest, 12)
    if version == 6 {
      inputs.append(bits: element.identifier, 12)
      inputs.append(bits: 0, 36)
    } else {
      inputs.append(bits: 0, 48)
      for pair in element.pairs.dropFirst() { inputs.append(bits: pair.start, 12) }
      for pair in element.pairs { inputs.append(bits: pair.length, 12) }
      for place in element.places { inputs.append(bits: place, 2) }
    }
  }

  /// - Parameter tags: the six tags, then the verifier's key.
  mutating func set(tags: [FieldGF128]) { inputs.replace(at: publicInputs - 7, with: tags) }
}
