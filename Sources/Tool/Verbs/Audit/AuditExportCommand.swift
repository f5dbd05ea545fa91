import App
import Sessions

/// `mdoc audit export`: all chains of a store as JSON Lines. A server may run on it meanwhile.
enum AuditExportCommand {
  static let command = Command(
    "export", "write all audit entries of a store as JSON Lines",
    options: [.config, .store, .newFile],
    notes: [
      "One line for each entry, its exact text as a JSON string; the last lines are the heads of the chains. The store is "
        + "only read, and may be in use.",
      "Exit status: 0 written, 64 usage, 65 the file exists or cannot be written, 75 the store cannot be read now, "
        + "78 configuration.",
    ],
    examples: [
      .init("Everything of a server", "mdoc audit export --config /etc/mdoc/mdoc.json --out audit-2026-11.jsonl"),
      .init("The heads alone, to note them elsewhere", "mdoc audit export --config mdoc.json | grep '\"head\"'"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let store = try open(arguments)
    guard let path = arguments.value(.newFile) else {
      try await AuditExport(store).run(reading: failure) { lines throws(Failure) in
        if !lines.isEmpty { console.print(String(decoding: lines.dropLast(), as: UTF8.self)) }
      }
      return .done
    }
    let file = try NewFile(path)
    try await AuditExport(store).run(reading: failure) { lines throws(Failure) in try file.write(lines) }
    try file.finish()
    return .done
  }

  private static func open(_ arguments: ParsedArguments) throws(Failure) -> any AuditStore {
    let config = arguments.value(.config)
    var store: StoreLocation?
    if let text = arguments.value(.store) { store = try ServeCommand.location(text) }
    do throws(StartError) {
      if let config, store == nil { return try AuditSource.open(configurationFile: config) }
      if let store, config == nil { return try AuditSource.open(store) }
    } catch {
      throw error.exitCode == ExitStatus.configuration.rawValue
        ? .configuration(error.message) : .temporary(error.message)
    }
    throw .usage("either --config FILE or --store STORE is required, and not both")
  }

  private static func failure(_ error: StoreError) -> Failure {
    switch error {
    case .unavailable(let reason): .temporary("the store: \(reason)")
    case .corrupt(let what): .unreadable("the store has \(what)")
    default: .internal("the store: \(error)")
    }
  }
}

extension Option {
  fileprivate static let config = Option("config", "FILE", "the server's configuration, JSON")
  fileprivate static let store = Option(
    "store", "STORE", "the SQLite file, or a postgresql:// URL, as of mdoc serve --test-mode --store")
  fileprivate static let newFile = Option("out", "FILE", "a new file to write (default: standard output)")
}
