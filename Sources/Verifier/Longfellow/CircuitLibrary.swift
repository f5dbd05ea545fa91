import Base
import Synchronization

/// The circuits that proofs can be verified with. Each is loaded when it is first used, and then kept.
public final class CircuitLibrary: Sendable {
  private let shelves: [KnownCircuit: Shelf]

  /// - Parameter files: the compressed files. A file whose content is another circuit is refused when it is loaded.
  public init(_ files: [KnownCircuit: [UInt8]]) {
    shelves = Dictionary(
      uniqueKeysWithValues: files.map { circuit, bytes in (circuit, Shelf(circuit: circuit, file: bytes)) })
  }

  /// The circuits at hand, the preferred ones first.
  public var circuits: [KnownCircuit] { KnownCircuit.all.filter { shelves[$0] != nil } }

  /// A verifier for proofs by this circuit; nil if the circuit is not at hand.
  ///
  /// The first call takes about a second. Further calls wait for it.
  /// - Throws: `LongfellowError` if the file is damaged or holds another circuit.
  package func verifier(for circuit: KnownCircuit) throws(LongfellowError) -> LongfellowVerifier? {
    try shelves[circuit]?.loaded().verifier
  }

  /// The circuits themselves, for a prover; nil if they are not at hand.
  package func pair(for circuit: KnownCircuit) throws(LongfellowError) -> CircuitPair? {
    try shelves[circuit]?.loaded().pair
  }

  /// Whether the circuit is in memory. It never waits for one that is being loaded.
  package func isLoaded(_ circuit: KnownCircuit) -> Bool {
    shelves[circuit]?.isLoaded.load(ordering: .relaxed) == true
  }

  private final class Shelf: Sendable {
    private let circuit: KnownCircuit
    private let content: Locked<Content>
    let isLoaded = Atomic(false)

    /// One of the three is there. An enum would keep its tag in unused bits of the pointers to what is loaded, where a
    /// leak detector does not see them.
    private struct Content: Sendable {
      var file: [UInt8]?
      var loaded: (pair: CircuitPair, verifier: LongfellowVerifier)?
      var fault: LongfellowError?
    }

    init(circuit: KnownCircuit, file: [UInt8]) {
      self.circuit = circuit
      content = Locked(Content(file: file))
    }

    func loaded() throws(LongfellowError) -> (pair: CircuitPair, verifier: LongfellowVerifier) {
      // The lock is held while the circuit is loaded, so that it is loaded once. Whoever waits would load it too.
      let content = content.withLock { content in
        if let file = content.file {
          content = Self.load(file, circuit)
          isLoaded.store(content.loaded != nil, ordering: .relaxed)
        }
        return content
      }
      guard let loaded = content.loaded else { throw content.fault ?? .circuitMalformed }
      return loaded
    }

    private static func load(_ file: [UInt8], _ circuit: KnownCircuit) -> Content {
      do throws(LongfellowError) {
        let pair = try CircuitPair(compressed: file, known: circuit)
        return Content(loaded: (pair, LongfellowVerifier(pair)))
      } catch {
        return Content(fault: error)
      }
    }
  }
}
