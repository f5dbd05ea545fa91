import Base
import FoundationEssentials
import Glibc
import Synchronization

/// Circuits for the verification of proofs. Each circuit is loaded at its first use and stays in memory.
public final class CircuitLibrary: Sendable {
  private let shelves: [KnownCircuit: Shelf]

  /// - Parameter files: the compressed files. Loading refuses a file that contains another circuit.
  public init(_ files: [KnownCircuit: [UInt8]]) {
    shelves = Dictionary(
      uniqueKeysWithValues: files.map { circuit, bytes in (circuit, Shelf(circuit: circuit, file: bytes)) })
  }

  /// The available circuits, in the order of preference.
  public var circuits: [KnownCircuit] { KnownCircuit.all.filter { shelves[$0] != nil } }

  /// The verifier for proofs by this circuit; nil if the library does not have the circuit. The first call takes about
  /// a second. Concurrent calls wait for it.
  /// - Throws: `LongfellowError` if the file is damaged or contains another circuit.
  package func verifier(for circuit: KnownCircuit) throws(LongfellowError) -> LongfellowVerifier? {
    try shelves[circuit]?.loaded().verifier
  }

  /// The circuits, for a prover; nil if the library does not have them.
  package func pair(for circuit: KnownCircuit) throws(LongfellowError) -> CircuitPair? {
    try shelves[circuit]?.loaded().pair
  }

  /// True if the circuit is in memory. Never waits for a circuit that is being loaded.
  package func isLoaded(_ circuit: KnownCircuit) -> Bool {
    shelves[circuit]?.isLoaded.load(ordering: .relaxed) == true
  }

  private final class Shelf: Sendable {
    private let circuit: KnownCircuit
    private let content: Locked<Content>
    let isLoaded = Atomic(false)

    /// Exactly one of the three is set. An enum would store its tag in unused bits of the pointers. Leak detectors
    /// would then miss the pointers.
    private struct Content: Sendable {
      var file: [UInt8]?
      var loaded: (pair: CircuitPair, verifier: LongfellowVerifier)?
      var error: LongfellowError?
    }

    init(circuit: KnownCircuit, file: [UInt8]) {
      self.circuit = circuit
      content = Locked(Content(file: file))
    }

    func loaded() throws(LongfellowError) -> (pair: CircuitPair, verifier: LongfellowVerifier) {
      // The lock is held during loading, so that the circuit is loaded only once.
      let content = content.withLock { content in
        if let file = content.file {
          do throws(LongfellowError) {
            let pair = try CircuitPair(compressed: file, known: circuit)
            content = Content(loaded: (pair, LongfellowVerifier(pair)))
          } catch {
            content = Content(error: error)
          }
          isLoaded.store(content.loaded != nil, ordering: .relaxed)
        }
        return content
      }
      guard let loaded = content.loaded else { throw content.error ?? .circuitMalformed }
      return loaded
    }
  }
}

extension CircuitLibrary {
  /// Maximum number of bytes of a circuit's file. Files of versions 6 and 7 are a third of a megabyte long.
  public static let fileBytes = 1 << 20

  /// The circuits of a folder: files whose names end with a known circuit's hash. A file is unpacked and checked when
  /// its circuit is first used.
  public convenience init(folder: String) throws(CircuitFolderError) {
    var files: [KnownCircuit: [UInt8]] = [:]
    for (circuit, path) in try Self.paths(in: folder) { files[circuit] = try Self.read(path) }
    self.init(files)
  }

  /// The paths of the circuits in a folder, in the order of preference.
  package static func paths(in folder: String) throws(CircuitFolderError) -> [(circuit: KnownCircuit, path: String)] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw CircuitFolderError(path: folder, problem: "is not a readable folder")
    }
    return KnownCircuit.all.compactMap { circuit in
      names.sorted().first { $0.hasSuffix(circuit.hash) }.map { (circuit, "\(folder)/\($0)") }
    }
  }

  package static func read(_ path: String) throws(CircuitFolderError) -> [UInt8] {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= fileBytes,
      let data = FileManager.default.contents(atPath: path)
    else {
      throw CircuitFolderError(path: path, problem: "cannot be read, or is larger than any circuit")
    }
    return [UInt8](data)
  }
}

/// The reason why a folder of circuits could not be read.
public struct CircuitFolderError: Error, Sendable, CustomStringConvertible {
  public let path, problem: String

  public var description: String { "\(path): \(problem)" }
}
