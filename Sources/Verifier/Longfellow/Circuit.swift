import CCarryless

/// A circuit pair that this verifier accepts, of version 6 or 7 of longfellow-libzk-v1, for one to four elements.
/// Earlier versions are unsound. All parameters come from this table, never from a response.
public struct KnownCircuit: Sendable, Hashable {
  public let version: Int
  /// The number of elements that a proof shows.
  public let elements: Int
  /// SHA-256 of both circuits' identifiers: 64 lower-case hex digits.
  public let hash: String
  /// `block_enc_hash` and `block_enc_sig`: the lengths of encoded rows (draft-google-cfrg-libzk, Ligero parameters).
  public let hashBlock, signatureBlock: Int

  /// The system's name in requests (ISO/IEC 18013-5, second edition, ZkSystemSpec).
  public static let system = "longfellow-libzk-v1"

  /// The pair's label in requests and responses.
  public var label: String { "\(Self.system)_\(version)_\(elements)_\(hashBlock)_\(signatureBlock)_\(hash)" }

  /// The pair's name for display and metrics: `v7-2` is version 7's pair for two elements.
  package var name: String { "v\(version)-\(elements)" }

  /// The approximate factor by which encoding lengthens a row.
  package var rate: Int { version == 7 ? 7 : 4 }
  /// The number of columns that a proof opens in each part. They give about 86 bits of soundness in version 6, and 109
  /// in version 7.
  package var openedColumns: Int { version == 7 ? 132 : 128 }

  private init(_ version: Int, _ elements: Int, _ hash: String, _ hashBlock: Int, _ signatureBlock: Int) {
    (self.version, self.elements, self.hash) = (version, elements, hash)
    (self.hashBlock, self.signatureBlock) = (hashBlock, signatureBlock)
  }

  /// All known circuits; the first is preferred.
  public static let all = [
    Self(7, 1, "8d079211715200ff06c5109639245502bfe94aa869908d31176aae4016182121", 4151, 4096),
    Self(7, 2, "6a5810683e62b6d7766ebd0d7ca72518a2b8325418142adcadb10d51dbbcd5ad", 4265, 4096),
    Self(7, 3, "8ee4849ae1293ae6fe5f9082ce3e5e15c4f198f2998c682fa1b727237d6d252f", 4307, 4096),
    Self(7, 4, "5aebdaaafe17296a3ef3ca6c80c6e7505e09291897c39700410a365fb278e460", 4415, 4096),
    Self(6, 1, "137e5a75ce72735a37c8a72da1a8a0a5df8d13365c2ae3d2c2bd6a0e7197c7c6", 4096, 2945),
    Self(6, 2, "b4bb6f01b7043f4f51d8302a30b36e3d4d2d0efc3c24557ab9212ad524a9764e", 4025, 2945),
    Self(6, 3, "b2211223b954b34a1081e3fbf71b8ea2de28efc888b4be510f532d6ba76c2010", 4121, 2945),
    Self(6, 4, "c70b5f44a1365c53847eb8948ad5b4fdc224251a2bc02d958c84c862823c49d6", 4283, 2945),
  ]
}

/// One layer's terms (draft-google-cfrg-libzk, Circuits): groups of equal input wires, and each term's output wire and
/// constant. They are packed, since a circuit has up to nine million.
package struct CircuitLayer: Sendable {
  package let logWires, wires: Int
  package let groups: [carryless_group]
  package let entries: [carryless_entry]

  /// A group and an entry each have 20 bits for a wire.
  static var mostWires: Int { 1 << 20 }
  /// An entry has 12 bits for a constant's index.
  static var mostConstants: Int { 1 << 12 }
  /// An index above the index of every constant.
  package static var noConstant: Int { mostConstants }
}

/// A layered circuit, output layer first.
package struct Circuit<F: ProofField>: Sendable {
  package let identifier: [UInt8]
  package let outputs, publicInputs, inputs: Int
  package let constants: [F]
  package let layers: [CircuitLayer]

  package var logOutputs: Int { ceilingLog2(outputs) }
  package var terms: Int { layers.reduce(0) { $0 + $1.entries.count } }
  package var privateInputs: Int { inputs - publicInputs }
  /// The number of elements of the sumcheck part in a proof.
  var sumcheckCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 2 } }
  /// The committed pads.
  var padCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 3 } }
}

/// The smallest l with 2^l ≥ n.
package func ceilingLog2(_ n: Int) -> Int { n <= 1 ? 0 : Int.bitWidth - (n - 1).leadingZeroBitCount }
