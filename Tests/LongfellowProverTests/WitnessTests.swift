import Base
import Cryptography
import Longfellow
import TestSupport
import Testing

@testable import LongfellowProver

/// The circuits' inputs for a published document against published digests.
struct WitnessTests {
  private struct Published: Decodable {
    struct Version: Decodable {
      let hashInputs, sigInputs: Int
      let hashInputsSHA256, sigInputsSHA256: HexBytes
      let sigWitnessFirst13: [HexBytes]
    }
    let v6, v7: Version
  }

  private func digest<F: ProverField>(_ wires: Wires<F>) -> [UInt8] {
    HashAlgorithm.sha256.hash(wires.values.flatMap(\.bytes))
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"), arguments: [6, 7])
  func `inputs are as published`(version: Int) throws {
    let published: Published = try PublishedVectors.json("longfellow/derived/witness.json")
    let expected = version == 6 ? published.v6 : published.v7
    let document = try PublishedDocument("zk-cred-longfellow/mdoc_zk/v6_v7_1attr_issue_date.json")
    let zeros = [FieldGF128](repeating: .zero, count: 6)
    let witness = try MdocWitness(
      document.document, document.request(["issue_date"]), for: known(version, 1), keys: zeros)
    #expect(witness.hash.inputs.count == expected.hashInputs)
    #expect(digest(witness.hash.inputs) == expected.hashInputsSHA256.bytes)
    #expect(witness.signature.inputs.count == expected.sigInputs)
    // After 900 public wires and the three numbers.
    let first = witness.signature.inputs.values[903..<916].map(\.bytes)
    #expect(first == expected.sigWitnessFirst13.map(\.bytes))
    #expect(digest(witness.signature.inputs) == expected.sigInputsSHA256.bytes)
  }

  /// FIPS 180-4 by OpenSSL, over lengths around those at which the padding needs one more block.
  @Test(arguments: [0, 1, 55, 56, 63, 64, 119, 120, 200])
  func `the last block's state is the hash`(length: Int) {
    let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    let padded = BlockHashing.padded(message, blocks: 6)
    #expect(padded.bytes.count == 384)
    var hashing = BlockHashing()
    var states: [[UInt32]] = []
    for block in 0..<6 {
      states.append(Array(hashing.absorb(padded.bytes[(64 * block)..<(64 * block + 64)]).suffix(8)))
    }
    let bytes = states[padded.used - 1].flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
    #expect(bytes == HashAlgorithm.sha256.hash(message))
  }
}
