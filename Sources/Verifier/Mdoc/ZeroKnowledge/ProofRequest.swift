import Base
import Longfellow

/// A request for a zero-knowledge proof about a document (ISO/IEC 18013-5, second edition, ZkRequest).
public struct ProofRequest: Sendable, Hashable {
  /// Whether a plain document is rejected. The EU's age verification profile (Annex A) forbids requiring proofs.
  public var isRequired: Bool
  /// The offered circuits. A proof by any other circuit is rejected.
  public let circuits: [KnownCircuit]

  /// Offers every circuit that can prove the document's requested elements.
  public init(
    of document: DocumentRequest, isRequired: Bool, circuits: [KnownCircuit]
  ) throws(ProofRequestError) {
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

  /// Restores a stored request.
  package init(isRequired: Bool, offering circuits: [KnownCircuit]) {
    self.isRequired = isRequired
    self.circuits = circuits
  }
}

/// The reason why a document's elements cannot be requested by proof.
public enum ProofRequestError: Error, Sendable, Hashable {
  /// A circuit proves one to four elements.
  case elementCount(Int)
  /// A proof shows elements of one namespace.
  case severalNamespaces
  /// A proof shows exactly the requested elements, without alternatives.
  case alternatives(ElementReference)
  /// The value has parts or may be longer than 64 bytes, or the identifier is longer than 32 bytes.
  case notProvable(ElementReference)
  /// The type has more than 255 bytes.
  case documentTypeTooLong
  /// No circuit for this number of elements is available.
  case noCircuit(elements: Int)
}

/// The circuits and times that proofs are verified with.
public struct ProofPolicy: Sendable {
  public var circuits: CircuitLibrary
  /// Whether a proof's time may be later on the current day in UTC. Google Wallet's proofs have such a time. Such a
  /// proof shows that the document is valid until that time, and that its validity began before it.
  public var acceptsEndOfDay: Bool

  public init(circuits: CircuitLibrary, acceptsEndOfDay: Bool = false) {
    self.circuits = circuits
    self.acceptsEndOfDay = acceptsEndOfDay
  }

  /// The seconds by which a proof's time may precede or follow its verification.
  public static let oldestSeconds: Int64 = 300
  public static let skewSeconds: Int64 = 60
}

/// One verification of a proof by its circuit, without personal data.
package struct ProofRun: Sendable {
  package let circuit: KnownCircuit
  package let isProven: Bool
  /// Excludes the loading of the circuit.
  package let seconds: Double
}
