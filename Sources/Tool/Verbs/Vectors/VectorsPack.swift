import Base
import FoundationEssentials
import Vectors

/// `mdoc vectors pack`: the corpus as others take it, an archive and one file.
enum VectorsPack {
  static let command = Command(
    "pack", "make the archive and the one file that others take the corpus as",
    options: [.suite, .outFolder],
    notes: [
      "mdoc-vectors-VERSION.tar.gz has the suite's files below a folder of that name, with the licence and SHA256SUMS. "
        + "\(PackedCorpus.file) has every case and every anchor. The same suite gives the same bytes; tar and gzip make "
        + "the archive. --suite takes either.",
      "A suite that mdoc vectors lint finds fault with is not packed.",
      "Exit status: 0 done, 64 usage, 65 the suite cannot be read or is not in order, 75 it cannot be written.",
    ],
    examples: [.init("A release", "mdoc vectors pack --out dist")],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let path = try arguments.required(.suite)
    let out = try arguments.required(.outFolder)
    let content: [UInt8]
    let files: [String]
    let suite: VectorSuite
    do throws(SuiteError) {
      if let finding = try SuiteLint(at: path).findings.first {
        throw SuiteError(path: "\(path)/\(finding.file)", problem: finding.problem)
      }
      suite = try VectorSuite(at: path)
      content = try PackedCorpus.content(of: suite)
      files = try SuiteFolder(path).releasedFiles()
    } catch {
      throw .unreadable(error.description)
    }
    try FileAccess.makeFolder(out)
    let name = "mdoc-vectors-\(suite.edition ?? "")"
    try FileAccess.write(content, to: "\(out)/\(PackedCorpus.file)")
    try archive(files, of: path, as: name, in: out)
    console.print(
      Printable.line("\(out)/\(name).tar.gz: \(suite.entries.count) cases, \(files.count + 1) files")
        + "\n" + Printable.line("\(out)/\(PackedCorpus.file): \(content.count >> 10) KiB"))
    return .done
  }

  /// The options make the archive depend on the names, the bytes and the modes of the files alone.
  private static func archive(
    _ files: [String], of suite: String, as name: String, in out: String
  ) throws(Failure) {
    let work = FileManager.default.temporaryDirectory.path + "/mdoc-pack-\(UUID().uuidString)"
    try FileAccess.makeNewFolder(work, mode: 0o700)
    defer { try? FileManager.default.removeItem(atPath: work) }
    var contents: [(path: String, content: [UInt8])] = []
    do throws(SuiteError) {
      for file in files { contents.append((file, try SuiteFolder(suite).read(file))) }
    } catch {
      throw .unreadable(error.description)
    }
    try FileAccess.write(Array(SuiteFolder.checksums(of: contents).utf8), to: "\(work)/SHA256SUMS")
    let archive = "\(out)/\(name).tar.gz"
    let time = "@\(CorpusMaker.time.secondsSince1970)"
    // Nothing that is half an archive stays.
    var isWhole = false
    defer { if !isWhole { try? FileManager.default.removeItem(atPath: archive) } }
    try ExternalProgram.run(
      [
        "tar", "--create", "--file", archive, "--use-compress-program", "gzip -9n", "--format", "ustar", "--sort",
        "name", "--mtime", time, "--owner", "0", "--group", "0", "--numeric-owner", "--mode", "u=rwX,go=rX",
        "--transform", "s,^,\(name)/,", "--no-recursion", "--directory", suite,
      ] + files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } + ["--directory", work, "SHA256SUMS"])
    isWhole = true
  }
}

extension Option {
  fileprivate static let outFolder = Option("out", "DIR", "the folder to write to", occurrence: .required)
}

/// `mdoc vectors release`: enters what is new in the suite's ledger of ids.
enum VectorsRelease {
  static let command = Command(
    "release", "enter new ids in the suite's ledger, as of a version",
    options: [.suite, open],
    operand: Operand(placeholder: "VERSION", help: "the corpus's next version, such as 1.1.0"),
    notes: [
      "\(CorpusLedger.fileName) has every id that the corpus ever had, with what it means: protocol, verdict and codes. An "
        + "id keeps its meaning, and a retired one is not used again. New cases make a minor version at least, retired "
        + "ones a major one, other bytes or words a patch.",
      "Exit status: 0 done, 64 the version is none, or none that this suite can have, 65 the suite cannot be read.",
    ],
    examples: [
      .init("After new cases", "mdoc vectors release 1.1.0"),
      .init("While a version is being made", "mdoc vectors release 2.0.0 --open"),
    ],
    action: run)

  private static let open = Option(
    flag: "open", "the version is still being made: its new ids may change until it is closed")

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard let version = CorpusVersion(arguments.operands[0]) else {
      throw .usage("VERSION is like 1.1.0, not \"\(arguments.operands[0])\"")
    }
    let path = try arguments.required(.suite)
    guard !SuiteFolder(path).isFile else { throw .unreadable("\(path): is a file, and its folder is needed here") }
    let meanings = try VectorsCommand.suite(at: path).meanings
    var ledger: CorpusLedger?
    do throws(SuiteError) {
      ledger = try CorpusLedger(in: SuiteFolder(path))
    } catch {
      throw .unreadable(error.description)
    }
    let differences = ledger?.differences(from: meanings)
    if let ledger, let differences, let refusal = ledger.refusal(of: version, for: differences) {
      throw .usage(refusal)
    }
    var released = ledger ?? CorpusLedger(version: version)
    released.release(version, meanings, isOpen: arguments.has(open))
    try FileAccess.write(released.fileContent, to: "\(path)/\(CorpusLedger.fileName)")
    let added = differences?.added.count ?? meanings.count
    console.print("\(version): \(meanings.count) ids, \(added) new, \(differences?.missing.count ?? 0) retired")
    return .done
  }
}

/// `mdoc vectors changes`: what changed between two versions of the corpus.
enum VectorsChanges {
  static let command = Command(
    "changes", "show what changed from one version of the corpus to another",
    options: [.json],
    operand: Operand(placeholder: "OLD NEW", help: "two suites: folders or packed corpora", isRepeatable: true),
    notes: ["Exit status: 0 done, 1 an id means something else than before, 64 usage, 65 a suite cannot be read."],
    examples: [.init("For a changelog", "mdoc vectors changes mdoc-vectors-1.0.0.json TestVectors")],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard arguments.operands.count == 2 else { throw .usage("two suites are compared: OLD NEW") }
    let changes = CorpusChanges(
      from: try VectorsCommand.suite(at: arguments.operands[0]), to: try VectorsCommand.suite(at: arguments.operands[1])
    )
    if arguments.has(.json) { console.print(changes.json) } else { console.print(changes.markdown) }
    return changes.changedMeaning.isEmpty ? .done : .rejected
  }
}
