/// A circuit pair that this verifier accepts: versions 6 and 7 of longfellow-libzk-v1, for one to four elements. Those
/// before 6 are unsound. What isn't in the proof comes from this table and never from an answer.
public struct KnownCircuit: Sendable, Hashable {
  public let version: Int
  /// How many elements a proof shows.
  public let elements: Int
  /// SHA-256 of both circuits' identifiers: 64 lower-case hex digits.
  public let hash: String
  /// `block_enc_hash` and `block_enc_sig`: the lengths of encoded rows (draft-google-cfrg-libzk, Ligero parameters).
  public let hashBlock, signatureBlock: Int

  /// The system's name in requests (ISO/IEC 18013-5, second edition, ZkSystemSpec).
  public static let system = "longfellow-libzk-v1"

  /// The label under which requests offer the pair, and by which answers name it.
  public var label: String { "\(Self.system)_\(version)_\(elements)_\(hashBlock)_\(signatureBlock)_\(hash)" }

  /// What people and metrics call the pair: `v7-2` is version 7's for two elements.
  package var name: String { "v\(version)-\(elements)" }

  /// How many times longer a row is encoded, about.
  package var rate: Int { version == 7 ? 7 : 4 }
  /// How many columns of each part a proof opens: for about 86 bits of soundness in version 6 and 109 in 7.
  package var openedColumns: Int { version == 7 ? 132 : 128 }

  private init(_ version: Int, _ elements: Int, _ hash: String, _ hashBlock: Int, _ signatureBlock: Int) {
    self.version = version
    self.elements = elements
    self.hash = hash
    self.hashBlock = hashBlock
    self.signatureBlock = signatureBlock
  }

  /// All of them; the first is preferred.
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
