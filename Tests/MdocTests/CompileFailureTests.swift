import Foundation
import Testing

/// Misuse that the types forbid. Each snippet in the folder CompileFailure tries one misuse from outside, and must fail
/// to compile for the reason in its first line. A control shows that correct use compiles.
@Suite(.enabled(if: SnippetCompiler.isHere, "swiftc or the built modules are not here"))
struct CompileFailureTests {
  @Test(arguments: SnippetCompiler.snippets)
  func compilesOnlyWhereItShould(name: String) throws {
    let text = try String(contentsOfFile: "\(SnippetCompiler.folder)/\(name)", encoding: .utf8)
    let expectation = try #require(text.split(separator: "\n").first)
    let result = try SnippetCompiler.compile(text)
    if expectation == "// compiles" {
      #expect(result.isCompiled, "\(result.output)")
    } else {
      let error = try #require(expectation.hasPrefix("// error: ") ? expectation.dropFirst(3) : nil)
      #expect(!result.isCompiled)
      #expect(result.output.contains(error), "\(result.output)")
    }
  }

  @Test func theFolderHasAControlAndAttempts() {
    #expect(SnippetCompiler.snippets.count { $0.hasPrefix("control-") } == 1)
    #expect(SnippetCompiler.snippets.count > 15)
  }
}

/// The compiler, up to the ownership checks, against the modules that this test was built with.
enum SnippetCompiler {
  static let folder = testFolder + "/CompileFailure"
  static let snippets =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".swift.txt") }
    .sorted()
  static var isHere: Bool { compiler != nil && FileManager.default.fileExists(atPath: modules + "/Mdoc.swiftmodule") }

  static func compile(_ text: String) throws -> (isCompiled: Bool, output: String) {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "mdoc-snippet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let source = scratch.appending(path: "Attempt.swift")
    try Data(text.utf8).write(to: source)
    let process = Process()
    process.executableURL = compiler.map { URL(filePath: $0) }
    // `-typecheck` ends before ownership is checked.
    process.arguments =
      ["-swift-version", "6", "-emit-sil", "-o", "/dev/null", "-I", modules]
      + (text.contains("// within the package") ? ["-package-name", package] : [])
      + ["COpenSSL", "CLibCBOR", "CZlib", "CZstd", "CCarryless/include"].flatMap {
        ["-I", "\(testFolder)/../../Sources/Libraries/\($0)"]
      }
      + [source.path]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus == 0, String(decoding: data, as: UTF8.self))
  }

  /// SwiftPM's name for this package. A snippet that states it is compiled as one of its modules.
  private static let package = testFolder.split(separator: "/").dropLast(2).last.map { $0.lowercased() } ?? ""
  private static let testFolder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  /// Beside the running test binary.
  private static let modules =
    URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent().path + "/Modules"
  private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
}
