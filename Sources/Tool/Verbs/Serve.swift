import App
import Sessions
import TestMode

/// `mdoc serve`: runs the verification server until SIGTERM or SIGINT.
enum ServeCommand {
  static let command = Command(
    "serve", "run the verification server until SIGTERM or SIGINT",
    options: [
      .config, .checkConfig, .configSchema, .testMode, .migrate, .listen, .store, .node, .testSeed, .webhook,
      .evidenceKey, .appleKey, .testMerchant, .testTeam, .circuits, .json,
    ],
    notes: [
      "Either --config, in live mode or staging as the file says, or --test-mode, which makes its own anchors, keys "
        + "and API key, binds to loopback and prints what a client needs. --listen, --store, --node, --seed, --webhook, --evidence-key, --apple-key, "
        + "--merchant-id, --team-id, --circuits and --json go with --test-mode. The log goes to standard error, one JSON object a line.",
      "--check-config reads all that a start with --config would read, opens no socket and no store, fetches nothing, and "
        + "prints everything that is wrong, with --json for programs. --config-schema prints the JSON Schema of the file.",
      "A PostgreSQL store gets its tables by --migrate, beside --config or --test-mode and --store: it makes or changes "
        + "them and ends; a server that finds others than it knows does not start.",
      "SIGHUP reads the configuration anew; what is wrong with it is logged, and the one before stays in force.",
      "Exit status: 0 stopped gracefully or nothing wrong, 75 the port or the store cannot be had now, 78 configuration.",
    ],
    examples: [
      .init("A server to try things on", "mdoc serve --test-mode --listen 127.0.0.1:8080"),
      .init(
        "One that opens what Apple's simulator and test profile answer your app",
        """
        mdoc serve --test-mode --apple-key merchant.pem \\
          --merchant-id merchant.example.shop --team-id ABCDE12345
        """),
      .init("What is wrong with a configuration", "mdoc serve --config /etc/mdoc/mdoc.json --check-config"),
      .init("The real one", "mdoc serve --config /etc/mdoc/mdoc.json"),
      .init(
        "Its tables in PostgreSQL, before the first start and after an upgrade",
        "mdoc serve --config /etc/mdoc/mdoc.json --migrate"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    if arguments.has(.configSchema) { return CheckConfiguration.printSchema(console) }
    let isCheck = arguments.has(.checkConfig)
    switch (arguments.value(.config), arguments.has(.testMode)) {
    case (let file?, false):
      let ofTestMode: [Option] =
        [
          .listen, .store, .node, .testSeed, .webhook, .evidenceKey, .appleKey, .testMerchant, .testTeam, .circuits,
        ] + (isCheck ? [] : [.json])
      if let option = ofTestMode.first(where: { arguments.has($0) }) {
        throw .usage("--\(option.name) goes with --test-mode; the configuration says it otherwise")
      }
      if isCheck { return try CheckConfiguration.check(file, isJSON: arguments.has(.json), console) }
      if arguments.has(.migrate) { return try conclude(await VerifierServer.migrate(configurationFile: file)) }
      return try conclude(await VerifierServer.run(configurationFile: file))
    case (nil, true):
      if isCheck { throw .usage("--check-config goes with --config FILE") }
      let options = try testModeOptions(arguments)
      if arguments.has(.migrate) {
        guard let store = options.store else { throw .usage("--migrate needs --store; a temporary store makes itself") }
        return try conclude(await VerifierServer.migrateTestMode(store))
      }
      return try conclude(await TestServer.run(options, printsJSON: arguments.has(.json)))
    default: throw .usage("either --config FILE or --test-mode is required, and not both")
    }
  }

  private static func testModeOptions(_ arguments: ParsedArguments) throws(Failure) -> TestModeOptions {
    var options = TestModeOptions()
    options.seed = try arguments.hex(.testSeed, length: 1...1_024)
    if let text = arguments.value(.store) { options.store = try location(text) }
    if let text = arguments.value(.node) {
      guard let node = NodeName(text) else { throw .usage("--node is 1 to 63 of a-z, 0-9, . and -, not \"\(text)\"") }
      options.node = node
    }
    let text = try arguments.required(.listen)
    guard let address = ListenAddress(text), address.address == "127.0.0.1" else {
      throw .usage("--listen is 127.0.0.1:PORT in test mode, not \"\(text)\"")
    }
    options.port = address.port
    options.webhookURL = try webhookURL(arguments)
    if let path = arguments.value(.evidenceKey) { options.evidenceKey = try KeyFile.evidenceKey(path) }
    options.appleKeys = try KeyFile.encryptionKeys(arguments.values(.appleKey))
    options.circuits = try CircuitFiles.library(arguments.value(.circuits))
    if let merchant = arguments.value(.testMerchant) { options.merchantID = merchant }
    if let team = arguments.value(.testTeam) { options.teamID = team }
    return options
  }

  /// The URL for webhooks. It must be HTTPS or on this machine, so that messages without TLS do not leave it.
  private static func webhookURL(_ arguments: ParsedArguments) throws(Failure) -> String? {
    guard let url = arguments.value(.webhook) else { return nil }
    guard TestServer.isWebhookURL(url) else {
      throw .usage("--webhook is https://HOST/… or http://127.0.0.1:PORT/…, not \"\(url)\"")
    }
    return url
  }

  /// The store's location. A text without a scheme is the path of an SQLite file.
  static func location(_ text: String) throws(Failure) -> StoreLocation {
    do throws(ConfigurationError) {
      return try text.hasPrefix("/") || !text.contains(":") ? .sqlite(path: text) : StoreLocation(text)
    } catch {
      throw .usage("--store \(error.message)")
    }
  }

  /// Turns the server's exit code into ours. The server has logged already why it did not start.
  private static func conclude(_ code: Int32) throws(Failure) -> ExitStatus {
    switch code {
    case 0: return .done
    case 78: throw .configuration("the server did not start; its log, above, says why")
    case 69, 75: throw .temporary("the server did not start; its log, above, says why")
    default: throw .internal("the server ended with status \(code)")
    }
  }
}

extension Option {
  fileprivate static let config = Option("config", "FILE", "the configuration, JSON")
  fileprivate static let checkConfig = Option(flag: "check-config", "say what is wrong with the configuration, and end")
  fileprivate static let configSchema = Option(flag: "config-schema", "print the configuration's JSON Schema, and end")
  fileprivate static let testMode = Option(flag: "test-mode", "serve a mock authority's documents, for tests")
  fileprivate static let listen = Option(
    "listen", "HOST:PORT", "where to listen; port 0 is a free one", fallback: "127.0.0.1:8080")
  fileprivate static let store = Option(
    "store", "STORE", "the SQLite file, or a postgresql:// URL (default: a temporary file)")
  fileprivate static let node = Option(
    "node", "NAME", "this server's name among those that share a store (default: node)")
  fileprivate static let migrate = Option(flag: "migrate", "make or change the store's tables, and end")
  fileprivate static let webhook = Option(
    "webhook", "URL", "where to send events; prints the secret that signs them")
  fileprivate static let evidenceKey = Option(
    "evidence-key", "FILE", "keep evidence, sealed with this key (default: none is kept)")
  fileprivate static let appleKey = Option(
    "apple-key", "FILE", "a key that your app's answers are encrypted to (default: one is made)",
    occurrence: .repeatable)
  fileprivate static let testMerchant = Option(
    "merchant-id", "ID", "the merchant identifier of your app (default: merchant.test.mdoc)")
  fileprivate static let testTeam = Option("team-id", "ID", "the team identifier of your app (default: TESTTEAM01)")
  fileprivate static let testSeed = Option(
    "seed", "HEX", "what all keys derive from, to serve a store again (default: new ones)")
}

/// `mdoc serve --check-config` and `--config-schema`: check and describe the configuration without starting a server.
enum CheckConfiguration {
  static func check(_ file: String, isJSON: Bool, _ console: Console) throws(Failure) -> ExitStatus {
    let check = ConfigurationCheck(path: file)
    if isJSON {
      console.print(check.json)
    } else {
      for problem in check.problems { console.print(Printable.line("\(file): \(problem.text)")) }
      for warning in check.warnings { console.print(Printable.line("\(file): warning: \(warning)")) }
    }
    let count = check.problems.count
    guard count == 0 else {
      throw .configuration("\(file): \(count) problem\(count == 1 ? "" : "s"); a server does not start with it")
    }
    if !isJSON { console.print("\(Printable.line(file)): good") }
    return .done
  }

  static func printSchema(_ console: Console) -> ExitStatus {
    console.print(ConfigurationSchema.json)
    return .done
  }
}
