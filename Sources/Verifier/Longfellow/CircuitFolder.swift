import Base
import FoundationEssentials
import Glibc

extension CircuitLibrary {
  /// Bytes of the largest file of a circuit, with room to spare: those of versions 6 and 7 have a third of a megabyte.
  public static let fileBytes = 1 << 20

  /// The circuits of a folder. A file is a circuit if its name ends with a known circuit's hash; others are left alone.
  ///
  /// No file is unpacked: that happens at its first use, and shows whether it is the circuit that its name says.
  public convenience init(folder: String) throws(CircuitFolderError) {
    var files: [KnownCircuit: [UInt8]] = [:]
    for (circuit, path) in try Self.paths(in: folder) { files[circuit] = try Self.read(path) }
    self.init(files)
  }

  /// The paths of the circuits in a folder, the preferred ones first.
  package static func paths(in folder: String) throws(CircuitFolderError) -> [(circuit: KnownCircuit, path: String)] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw CircuitFolderError(path: folder, problem: "is no folder that can be read")
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

/// Why a folder of circuits could not be read.
public struct CircuitFolderError: Error, Sendable, CustomStringConvertible {
  public let path, problem: String

  public var description: String { "\(path): \(problem)" }
}
