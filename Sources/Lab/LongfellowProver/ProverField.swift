import Cryptography
import Longfellow

/// A term of a layer's sum after the outputs are bound (draft-google-cfrg-libzk, Sumcheck).
struct BoundTerm<F: ProofField> {
  var left, right: UInt32
  var value: F
}

/// The two wires of a term.
enum Hand: Int, CaseIterable { case left, right }

/// A field, with the loops that take most of a prover's time. The caller must first check the size of the memory behind
/// each pointer.
protocol ProverField: ProofField {
  associatedtype Extension: RowExtension where Extension.Element == Self

  /// The number of private inputs outside the subfield; nil if there is no smaller field. They are the last private
  /// inputs.
  static var inputsOutsideSubfield: Int? { get }
  /// The element's encoding in subfield runs; nil if the element is outside the subfield.
  var subfieldBytes: [UInt8]? { get }
  static func random(_ source: inout ProverRandomness) -> Self
  static func randomInSubfield(_ source: inout ProverRandomness) -> Self

  /// sum[i] += factor·row[i].
  static func add(to sum: UnsafeMutablePointer<Self>, _ factor: Self, times row: UnsafePointer<Self>, count: Int)
  /// sum[i] += a[i]·b[i].
  static func addProducts(
    to sum: UnsafeMutablePointer<Self>, _ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int)
  /// values[i] = values[2i] + challenge·(values[2i + 1] − values[2i]).
  static func fold(_ values: UnsafeMutablePointer<Self>, pairs: Int, _ challenge: Self)
  /// Σ sums[2i]·wires[2i], and Σ of the products of the pairs' differences.
  static func roundSums(
    _ sums: UnsafePointer<Self>, _ wires: UnsafePointer<Self>, pairs: Int
  ) -> (constant: Self, square: Self)
  /// Adds each term to its output. Returns false if an asserted product is not zero.
  static func evaluate(
    _ layer: CircuitLayer, constants: [Self], one: Int, wires: UnsafePointer<Self>,
    outputs: UnsafeMutablePointer<Self>
  ) -> Bool
  /// Makes one term from each group. Adds the term's value times its right wire to the sum of its left wire.
  static func bindOutputs(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: UnsafePointer<Self>, wires: UnsafePointer<Self>,
    terms: UnsafeMutablePointer<BoundTerm<Self>>, sums: UnsafeMutablePointer<Self>)
  /// Binds the lowest bit of a hand's wires and merges neighbouring terms. Adds each term's value times its own wire to
  /// the sum of the other wire. Returns the number of remaining terms.
  static func fold(
    _ hand: Hand, _ terms: UnsafeMutablePointer<BoundTerm<Self>>, count: Int, _ challenge: Self,
    wires: UnsafePointer<Self>, sums: UnsafeMutablePointer<Self>
  ) -> Int
}

/// Extends rows from the points 0 … count−1 to the points count … total−1. A row contains the values of a polynomial of
/// degree below `count`.
protocol RowExtension: Sendable {
  associatedtype Element

  init(count: Int, total: Int)
  /// - Parameter rows: `number` rows, each `stride` elements after the previous row.
  func extend(_ rows: UnsafeMutablePointer<Element>, stride: Int, number: Int)
}

extension ProverField {
  static func random(_ count: Int, _ source: inout ProverRandomness) -> [Self] {
    var elements: [Self] = []
    for _ in 0..<count { elements.append(random(&source)) }
    return elements
  }
}

extension Circuit {
  /// The index of the constant 1, or an unused index if there is none.
  var indexOfOne: Int { constants.firstIndex(of: F.one) ?? CircuitLayer.noConstant }
}

/// The random bytes that hide a credential. They are AES-256 encryptions of a counter under a secret seed. Never share
/// the seed, since it reveals the proof's private inputs.
package struct ProverRandomness: ~Copyable {
  private let cipher = AESBlocks()
  private var counter: UInt64 = 0
  private var buffer: [UInt8] = []
  private var position = 0

  /// - Parameter seed: 32 bytes. Only tests use a fixed seed.
  package init(seed: [UInt8]) { cipher.setKey(seed) }

  /// Takes a random seed from the operating system.
  package init() throws(CryptoError) { self.init(seed: try Random.bytes(32)) }

  private mutating func refill() {
    var blocks = [UInt8](repeating: 0, count: 4096)
    blocks.withUnsafeMutableBytes { blocks in
      for block in 0..<256 {
        blocks.storeBytes(of: counter.littleEndian, toByteOffset: 16 * block, as: UInt64.self)
        counter += 1
      }
    }
    buffer = cipher.encrypt(blocks)
    position = 0
  }

  mutating func next() -> UInt64 {
    if position + 8 > buffer.count { refill() }
    defer { position += 8 }
    return buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) }.littleEndian
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: next().littleEndian) { bytes += $0 } }
    return Array(bytes.prefix(count))
  }
}
