import Base
import Longfellow

/// That a document may be, or must be, answered by a zero-knowledge proof (ISO/IEC 18013-5, second edition, ZkRequest).
public struct ProofRequest: Sendable, Hashable {
  /// Whether a plain document is refused. The EU's age verification profile (Annex A) forbids to require proofs.
  public var isRequired: Bool
  /// The circuits that are offered. An answer by any other is refused.
  public let circuits: [KnownCircuit]

  /// Offers every circuit at hand that can prove the document's requested elements.
  ///
  /// - Throws: why the elements cannot be proven, or that no circuit for them is at hand.
  public init(
    of document: DocumentRequest, isRequired: Bool, circuits: [KnownCircuit]
  ) throws(ProofRequestFault) {
    let elements = document.namedElements
    guard (1...4).contains(elements.count) else { throw .elementCount(elements.count) }
    guard Set(elements.map { UTF8Key($0.element.namespace) }).count == 1 else { throw .severalNamespaces }
    guard document.docType.utf8.count <= 255 else { throw .documentTypeTooLong }
    for request in elements {
      guard request.alternatives.isEmpty else { throw .alternatives(request.element) }
      guard DocTypeCatalogue.isProvable(request.element), request.element.identifier.utf8.count <= 32 else {
        throw .notProvable(request.element)
      }
    }
    let offered = circuits.filter { circuit in
      circuit.elements == elements.count
        && elements.allSatisfy { $0.element.identifier.utf8.count <= circuit.longestIdentifier }
    }
    guard !offered.isEmpty else { throw .noCircuit(elements: elements.count) }
    self.init(isRequired: isRequired, offering: offered)
  }

  /// A request that was kept.
  package init(isRequired: Bool, offering circuits: [KnownCircuit]) {
    self.isRequired = isRequired
    self.circuits = circuits
  }
}

/// Why a document's elements cannot be asked for by proof.
public enum ProofRequestFault: Error, Sendable, Hashable {
  /// A circuit proves one to four elements.
  case elementCount(Int)
  /// A proof shows elements of one namespace.
  case severalNamespaces
  /// A proof shows exactly what was asked for, so there is no place for alternatives.
  case alternatives(ElementReference)
  /// The value has parts, or may be longer than 64 bytes; or the identifier is longer than 32.
  case notProvable(ElementReference)
  /// The type has more than 255 bytes.
  case documentTypeTooLong
  /// No circuit for so many elements is at hand.
  case noCircuit(elements: Int)
}

/// By what, and for how long, proofs are verified.
public struct ProofPolicy: Sendable {
  public var circuits: CircuitLibrary
  /// Whether a proof may be stamped with any later time of the current day in UTC, as Google Wallet stamps them. Such a
  /// proof shows that the document is valid until that time, and that it became valid before it.
  public var acceptsEndOfDay: Bool

  public init(circuits: CircuitLibrary, acceptsEndOfDay: Bool = false) {
    self.circuits = circuits
    self.acceptsEndOfDay = acceptsEndOfDay
  }

  /// The seconds by which a proof's time may lie before and after the time of its verification.
  public static let oldestSeconds: Int64 = 300
  public static let skewSeconds: Int64 = 60
}

/// One verification of a proof by its circuit, without a word about whom the proof is of.
package struct ProofRun: Sendable {
  package let circuit: KnownCircuit
  package let isProven: Bool
  /// Without the time to load the circuit.
  package let seconds: Double

  package init(circuit: KnownCircuit, isProven: Bool, seconds: Double) {
    self.circuit = circuit
    self.isProven = isProven
    self.seconds = seconds
  }
}
