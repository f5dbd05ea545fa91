import CBOR
import Cryptography
import Longfellow

/// The hash circuit's inputs: the statement, then the secret inputs.
struct HashWitness {
  /// All inputs. The tags and the verifier's key are zero until `set(tags:)` is called.
  private(set) var inputs = Wires<FieldGF128>()
  private var publicInputs = 0

  private static let nibbles = (0..<16).map { FieldGF128.point(2 * $0) + .point(15) }

  /// - Parameter keys: the prover's shares of the tags' keys.
  init(
    _ request: ProverRequest, issuer: IssuerFacts, elements: [ElementFacts], version: Int, keys: [FieldGF128]
  ) throws(ProverError) {
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
      for index in element.order { inputs.append(bits: index, 2) }
    }
  }

  /// - Parameter tags: the six tags, then the verifier's key.
  mutating func set(tags: [FieldGF128]) { inputs.replace(at: publicInputs - 7, with: tags) }
}

/// SHA-256 (FIPS 180-4) with its inner states, which are a circuit's inputs for each block.
struct BlockHashing {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  /// Pads the message for SHA-256, then appends zeros up to the given number of blocks. `used` is the number of blocks
  /// that the message needs.
  static func padded(_ message: [UInt8], blocks: Int) -> (bytes: [UInt8], used: Int) {
    let used = (message.count + 9 + 63) / 64
    var bytes = message + [0x80]
    bytes += [UInt8](repeating: 0, count: 64 * used - 8 - bytes.count)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: (8 * message.count) >> (56 - 8 * $0)) }
    bytes += [UInt8](repeating: 0, count: max(0, 64 * (blocks - used)))
    return (bytes, used)
  }

  private static func rotated(_ x: UInt32, _ count: UInt32) -> UInt32 { x >> count | x << (32 - count) }

  private static func schedule(_ block: ArraySlice<UInt8>) -> [UInt32] {
    let first = block.startIndex
    var words = (0..<16).map { word in (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[first + 4 * word + $1]) } }
    for t in 16..<64 {
      let (a, b) = (words[t - 15], words[t - 2])
      let s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
      let s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
      words.append(words[t - 16] &+ s0 &+ words[t - 7] &+ s1)
    }
    return words
  }

  /// Hashes one block. Returns the schedule from its 17th word on, each round's new e and a, and the state after the
  /// block.
  mutating func absorb(_ block: ArraySlice<UInt8>) -> [UInt32] {
    let words = Self.schedule(block)
    var witness = Array(words[16...])
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for t in 0..<64 {
      let s1 = Self.rotated(e, 6) ^ Self.rotated(e, 11) ^ Self.rotated(e, 25)
      let first = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ Self.constants[t] &+ words[t]
      let s0 = Self.rotated(a, 2) ^ Self.rotated(a, 13) ^ Self.rotated(a, 22)
      let second = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
      witness += [e, a]
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ word }
    return witness + state
  }
}
