import App
import Sessions
import TestMode

enum ServeCommand {
  static let command = Command(
    "serve", "run the verification server until SIGTERM or SIGINT",
    options: [.config, .checkConfig, .configSchema, .testMode, .migrate] + testModeOptions + [.json],
    notes: [
      "Use either --config or --test-mode. With --config, the file chooses live mode or staging. With --test-mode the "
        + "server makes its own anchors, keys and API key, binds to loopback, and prints the values that a client "
        + "needs. --listen, --origin, --page-name, --page-color, --page-logo, --store, --node, --seed, --webhook, "
        + "--evidence-key, --apple-key, --merchant-id, --team-id, "
        + "--circuits and --json need --test-mode. The log goes to standard error, one JSON object a line.",
      "--check-config reads everything that a start with --config would read, and prints all errors, with --json for "
        + "programs. It opens no socket and no store, and fetches nothing. --config-schema prints the file's JSON "
        + "Schema.",
      "--migrate makes or upgrades the tables of a PostgreSQL store, and ends. Give it with --config, or with "
        + "--test-mode and --store. A server does not start with tables of another version.",
      "SIGHUP reloads the configuration. If the new one has errors, they are logged, and the previous configuration "
        + "stays in force.",
      "Exit status: 0 stopped gracefully or nothing wrong, 75 the port, the store or a token is unavailable now, 78 "
        + "configuration.",
    ],
    examples: [
      .init("Start a server for trials", "mdoc serve --test-mode --listen 127.0.0.1:8080"),
      .init(
        "Try your own site, with its name on the hosted page",
        """
        mdoc serve --test-mode --origin http://localhost:3000 \\
          --page-name "Tea and Cake" --page-color "#7a3e9d"
        """),
      .init(
        "Decrypt the responses of Apple's simulator and test profile",
        """
        mdoc serve --test-mode --apple-key merchant.pem \\
          --merchant-id merchant.example.shop --team-id ABCDE12345
        """),
      .init("Check a configuration", "mdoc serve --config /etc/mdoc/mdoc.json --check-config"),
      .init("Start a real server", "mdoc serve --config /etc/mdoc/mdoc.json"),
      .init(
        "Make PostgreSQL's tables: before the first start, after an upgrade",
        "mdoc serve --config /etc/mdoc/mdoc.json --migrate"),
    ], action: run)

  private static let testModeOptions: [Option] = [
    .listen, .siteOrigin, .pageName, .pageColor, .pageLogo, .store, .node, .testSeed, .webhook, .evidenceKey, .appleKey,
    .testMerchant, .testTeam, .circuits,
  ]

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    if arguments.has(.configSchema) {
      arguments.console.print(ConfigurationSchema.json)
      return .done
    }
    let isCheck = arguments.has(.checkConfig)
    switch (arguments.value(.config), arguments.has(.testMode)) {
    case (let file?, false):
      let unused = testModeOptions + (isCheck ? [] : [.json])
      if let option = unused.first(where: arguments.has) {
        throw .usage("--\(option.name) needs --test-mode; without that, set it in the configuration")
      }
      if isCheck { return try check(file, arguments) }
      if arguments.has(.migrate) { return try conclude(await VerifierServer.migrate(configurationFile: file)) }
      return try conclude(await VerifierServer.run(configurationFile: file))
    case (nil, true):
      if isCheck { throw .usage("--check-config needs --config FILE") }
      let options = try testModeOptions(arguments)
      if arguments.has(.migrate) {
        guard let store = options.store else { throw .usage("--migrate needs --store") }
        return try conclude(await VerifierServer.migrateTestMode(store))
      }
      return try conclude(await TestServer.run(options, printsJSON: arguments.has(.json)))
    default: throw .usage("give exactly one of --config FILE and --test-mode")
    }
  }

  private static func testModeOptions(_ arguments: Arguments) throws(Failure) -> TestModeOptions {
    var options = TestModeOptions()
    options.seed = try arguments.hex(.testSeed, length: 1...1_024)
    if let text = arguments.value(.store) { options.store = try location(text) }
    if let text = arguments.value(.node) {
      guard let node = NodeName(text) else {
        throw .usage("--node must be 1 to 63 of a-z, 0-9, . and -, not \"\(text)\"")
      }
      options.node = node
    }
    options.port = try arguments.address(.listen, "127.0.0.1:PORT in test mode") { $0.address == "127.0.0.1" }.port
    options.origins = try origins(arguments)
    options.page = try page(arguments)
    options.documentation = try? DocumentationSite(folder: DocumentationSite.packaged)
    options.webhookURL = try webhookURL(arguments)
    if let path = arguments.value(.evidenceKey) { options.evidenceKey = try KeyFile.evidenceKey(path) }
    options.appleKeys = try KeyFile.encryptionKeys(arguments.values(.appleKey))
    options.circuits = try arguments.circuitLibrary()
    if let merchant = arguments.value(.testMerchant) { options.merchantID = merchant }
    if let team = arguments.value(.testTeam) { options.teamID = team }
    return options
  }

  private static func origins(_ arguments: Arguments) throws(Failure) -> [String] {
    let origins = arguments.values(.siteOrigin)
    if let wrong = origins.first(where: { !WebOrigin.isValid($0) }) {
      throw .usage(
        "--origin must be https://HOST[:PORT] as browsers write it, or http://localhost[:PORT] or "
          + "http://127.0.0.1[:PORT]; not \"\(wrong)\"")
    }
    return origins
  }

  /// The relying party's data that the hosted page shows.
  private static func page(_ arguments: Arguments) throws(Failure) -> HostedPage {
    let standard = TestModeOptions().page
    let name = arguments.value(.pageName) ?? standard.name
    guard HostedPage.isName(name) else {
      throw .usage("--page-name must have 1 to \(HostedPage.longestName) characters")
    }
    let color = arguments.value(.pageColor)
    if let color, !HostedPage.isColor(color) {
      throw .usage("--page-color must be #rrggbb in lower case, not \"\(color)\"")
    }
    let logo = try arguments.value(.pageLogo).map { path throws(Failure) in
      let bytes = try FileAccess.read(path, purpose: "page-logo")
      guard bytes.count <= HostedPage.Logo.mostBytes else {
        throw .unreadable(
          "--page-logo \(path): has \(bytes.count) bytes; at most \(HostedPage.Logo.mostBytes) are allowed")
      }
      guard let logo = HostedPage.Logo(file: path, bytes: bytes) else {
        throw .usage("--page-logo \(HostedPage.Logo.wrongFile)")
      }
      return logo
    }
    return HostedPage(name: name, color: color, logo: logo, showsReason: true)
  }

  /// The URL for webhooks. It must be HTTPS or on this machine, so that messages without TLS do not leave the machine.
  private static func webhookURL(_ arguments: Arguments) throws(Failure) -> String? {
    guard let url = arguments.value(.webhook) else { return nil }
    guard TestServer.isWebhookURL(url) else {
      throw .usage("--webhook must be https://HOST/… or http://127.0.0.1:PORT/…, not \"\(url)\"")
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

  /// Maps the server's exit code to the program's. The server has already logged the reason.
  private static func conclude(_ code: Int32) throws(Failure) -> ExitStatus {
    switch code {
    case 0: return .done
    case 78: throw .configuration("the server did not start; see its log above")
    case 69, 75: throw .temporary("the server did not start; see its log above")
    default: throw .internal("the server ended with status \(code)")
    }
  }

  /// Checks the configuration without starting a server.
  private static func check(_ file: String, _ arguments: Arguments) throws(Failure) -> ExitStatus {
    let check = ConfigurationCheck(path: file)
    let lines = check.problems.map(\.text) + check.warnings.map { "warning: \($0)" }
    let isGood = check.problems.isEmpty
    let text = (lines + (isGood ? ["good"] : [])).map { Report.line("\(file): \($0)") }
    arguments.print([.document(check.json)] + text)
    guard !isGood else { return .done }
    let count = "\(file): \(counted(check.problems.count, "problem"))"
    throw check.isPassing
      ? .temporary("\(count); try again") : .configuration("\(count); correct it before you start a server")
  }
}

extension Option {
  fileprivate static let config = Option("config", "FILE", "the configuration, JSON")
  fileprivate static let checkConfig = Option(flag: "check-config", "print the errors of the configuration and exit")
  fileprivate static let configSchema = Option(flag: "config-schema", "print the configuration's JSON Schema and exit")
  fileprivate static let testMode = Option(flag: "test-mode", "serve a mock authority's documents, for tests")
  fileprivate static let listen = Option(
    "listen", "HOST:PORT", "the address to listen on; port 0 picks a free port", fallback: "127.0.0.1:8080")
  fileprivate static let siteOrigin = Option(
    "origin", "URL",
    "an origin of your own site, which may make requests, receive returning visitors and frame the page",
    occurrence: .repeatable)
  fileprivate static let pageName = Option("page-name", "NAME", "your name on the hosted page (default: Test Shop)")
  fileprivate static let pageColor = Option("page-color", "#RRGGBB", "the colour of the hosted page's buttons")
  fileprivate static let pageLogo = Option(
    "page-logo", "FILE", "your logo on the hosted page: SVG, PNG, WebP or JPEG of at most 100 kB")
  fileprivate static let store = Option(
    "store", "STORE", "the SQLite file, or a postgresql:// URL (default: a temporary file)")
  fileprivate static let node = Option(
    "node", "NAME", "this server's name among the servers of a store (default: node)")
  fileprivate static let migrate = Option(flag: "migrate", "make or upgrade the store's tables and exit")
  fileprivate static let webhook = Option(
    "webhook", "URL", "the address for events; prints the secret that signs them")
  fileprivate static let evidenceKey = Option(
    "evidence-key", "FILE", "keep evidence, sealed with this key (default: keep none)")
  fileprivate static let appleKey = Option(
    "apple-key", "FILE", "a private key for your app's encrypted responses (default: a new key)",
    occurrence: .repeatable)
  fileprivate static let testMerchant = Option(
    "merchant-id", "ID", "the merchant identifier of your app (default: merchant.test.mdoc)")
  fileprivate static let testTeam = Option("team-id", "ID", "the team identifier of your app (default: TESTTEAM01)")
  fileprivate static let testSeed = Option(
    "seed", "HEX", "the seed of all keys, to serve a store again (default: a new seed)")
}
