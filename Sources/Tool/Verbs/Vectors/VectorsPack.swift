import Base
import FoundationEssentials
import Glibc
import Vectors

/// `mdoc vectors pack`: packs the corpus for distribution, as an archive and as a single file.
enum VectorsPack {
  static let command = Command(
    "pack", "pack the corpus as an archive and as a single file", options: [.suite, .outFolder, .json],
    notes: [
      "mdoc-vectors-VERSION.tar.gz has the suite's files below a folder of that name, with the licence and "
        + "SHA256SUMS. \(PackedCorpus.file) has every case and every anchor. The same suite gives the same bytes; tar "
        + "and gzip make the archive. --suite takes either.",
      "A suite with findings of mdoc vectors lint is not packed.",
      "Exit status: 0 done, 64 usage, 65 the suite cannot be read or has findings, 75 a file cannot be written.",
    ], examples: [.init("Pack a release", "mdoc vectors pack --out dist")], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let path = try arguments.required(.suite)
    let out = try arguments.required(.outFolder)
    let (suite, content, files) = try readable {
      if let finding = try SuiteLint(at: path).findings.first {
        throw SuiteError(path: "\(path)/\(finding.path)", problem: finding.problem)
      }
      let suite = try VectorSuite(at: path)
      return (suite, try PackedCorpus.content(of: suite), try SuiteFolder(path).releasedFiles())
    }
    try FileAccess.makeFolder(out)
    let name = "mdoc-vectors-\(suite.edition ?? "")"
    try FileAccess.write(content, to: "\(out)/\(PackedCorpus.file)")
    try archive(files, of: path, as: name, in: out)
    arguments.print([
      .members(["files": ["\(name).tar.gz", PackedCorpus.file], "cases": suite.entries.count]),
      .line("\(out)/\(name).tar.gz: \(suite.entries.count) cases, \(files.count + 1) files"),
      .line("\(out)/\(PackedCorpus.file): \(content.count >> 10) KiB"),
    ])
    return .done
  }

  /// With these options of tar, the archive depends only on the files' names, bytes and modes.
  private static func archive(_ files: [String], of suite: String, as name: String, in out: String) throws(Failure) {
    let work = FileManager.default.temporaryDirectory.path + "/mdoc-pack-\(UUID().uuidString)"
    try FileAccess.makeNewFolder(work, mode: 0o700)
    defer { try? FileManager.default.removeItem(atPath: work) }
    let contents = try readable { try files.map { (path: $0, content: try SuiteFolder(suite).read($0)) } }
    try FileAccess.write(Array(SuiteFolder.checksums(of: contents).utf8), to: "\(work)/SHA256SUMS")
    let archive = "\(out)/\(name).tar.gz"
    let time = "@\(PackedCorpus.time.secondsSince1970)"
    // An incomplete archive is deleted.
    var isWhole = false
    defer { if !isWhole { try? FileManager.default.removeItem(atPath: archive) } }
    try runProgram(
      [
        "tar", "--create", "--file", archive, "--use-compress-program", "gzip -9n", "--format", "ustar", "--sort",
        "name", "--mtime", time, "--owner", "0", "--group", "0", "--numeric-owner", "--mode", "u=rwX,go=rX",
        "--transform", "s,^,\(name)/,", "--no-recursion", "--directory", suite,
      ] + files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } + ["--directory", work, "SHA256SUMS"])
    isWhole = true
  }

  /// Runs a program from PATH. It writes to this program's standard output and error.
  private static func runProgram(_ words: [String]) throws(Failure) {
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    guard posix_spawnp(&process, words[0], nil, nil, &arguments, environ) == 0 else {
      throw .temporary("\(words[0]) cannot be started")
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw .temporary("\(words[0]) failed") }
  }
}

extension Option {
  fileprivate static let outFolder = Option("out", "DIR", "the folder to write to", occurrence: .required)
}
