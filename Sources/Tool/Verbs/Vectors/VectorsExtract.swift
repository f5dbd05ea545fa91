import Base
import Mdoc
import Vectors

/// `mdoc vectors extract`: writes the inputs of one case as files.
enum VectorsExtract {
  static let command = Command(
    "extract", "write a case's inputs as files, with the command that judges them",
    options: [.suite],
    operand: Operand(
      placeholder: "ID FOLDER", help: "a case, and the new folder for its files", isRepeatable: true),
    notes: [
      "README.txt has the command and what it must come to. Where mdoc verify cannot express a case's conditions it says "
        + "so, and question.json asks for the verdict over the harness protocol, which can.",
      "Exit status: 0 written, 64 usage or no such case, 65 the folder exists, or the suite cannot be read.",
    ],
    examples: [
      .init("One case as files", "mdoc vectors extract element-twice case && cat case/README.txt")
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard arguments.operands.count == 2 else { throw .usage("ID and FOLDER are required, and nothing more") }
    let suite = try VectorsCommand.suite(arguments)
    let entry = try VectorsCommand.entry(arguments.operands[0], in: suite)
    let folder = arguments.operands[1]
    let files = ExtractedCase(entry.vector, in: suite).files
    try write(files, to: folder)
    console.print("\(files.count) files in \(Printable.line(folder)); README.txt says how they are judged")
    return .done
  }

  static func write(_ files: [(path: String, bytes: [UInt8])], to folder: String) throws(Failure) {
    guard !FileAccess.exists(folder) else { throw .unreadable("\(folder): exists, and nothing was written") }
    try FileAccess.makeFolder(folder)
    for file in files {
      if let slash = file.path.lastIndex(of: "/") { try FileAccess.makeFolder("\(folder)/\(file.path[..<slash])") }
      try FileAccess.writeNew(file.bytes, to: "\(folder)/\(file.path)")
    }
  }
}
