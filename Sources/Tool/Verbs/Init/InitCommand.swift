import App
import Base
import Sessions

/// `mdoc init`: writes a folder with a configuration that a server starts with.
enum InitCommand {
  static let command = Command(
    "init", "write a server's configuration, with new keys, into a new folder",
    options: [
      .mode, .anchor, .origin, .publicURL, .listen, .proxy, .relyingParty, .appleMerchant, .appleTeam, .json,
    ],
    operand: Operand(placeholder: "FOLDER", help: "the folder to make; it must not exist yet"),
    notes: [
      "The folder gets mdoc.json, keys/, trust/ and a .gitignore that keeps the keys out of a repository. The API key is "
        + "printed, this once; the configuration has its SHA-256. All is written, checked and put in place, or nothing.",
      "staging trusts anchors of the tier test, such as a sandbox's; every other rule is that of live. The files of "
        + "--trust are copied: in staging those without settings of their own get the tier test. Test mode needs no "
        + "folder: mdoc serve --test-mode.",
      "With --public-url wallets can be asked by link or QR code, which takes a reader. In staging it gets a certificate "
        + "of an authority of its own, which you install in the wallet; in live a request for one. A TLS proxy or tunnel "
        + "on this machine is expected in front; --proxy names another one.",
    ],
    examples: [
      .init(
        "To try real wallets with a sandbox's documents",
        """
        mdoc init staging --mode staging --trust sandbox-iaca.pem \\
          --origin https://shop.example --public-url https://id.shop.example
        """),
      .init(
        "For an app that asks Apple Wallet",
        """
        mdoc init live --mode live --trust iaca.pem \\
          --apple-merchant merchant.example.shop --apple-team ABCDE12345
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard var folder = arguments.operand else { throw .internal("FOLDER was read without being declared") }
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    let made = try ConfigurationFolder(choices(arguments), at: .systemNow())
    try made.write(to: folder)
    if arguments.has(.json) {
      console.print(made.json(in: folder))
    } else {
      let rows = made.facts(in: folder).map { ($0.label, Printable.line($0.value)) }
      console.print(Wrapping.columns(rows, indent: 0, width: 240))
      for step in made.steps(in: folder) {
        console.print("\n" + Wrapping.wrap("To do: " + Printable.line(step), indent: 7, width: console.width))
      }
      console.print("\nStart it: mdoc serve --config \(Printable.line(folder))/mdoc.json")
    }
    return .done
  }

  private static func choices(_ arguments: ParsedArguments) throws(Failure) -> ConfigurationFolder.Choices {
    let mode: ServerMode
    switch try arguments.required(.mode) {
    case "staging": mode = .staging
    case "live": mode = .live
    case "test": throw .usage("test mode needs no folder: mdoc serve --test-mode makes its own anchors and keys")
    case let other: throw .usage("--mode is staging or live, not \"\(other)\"")
    }
    let text = try arguments.required(.listen)
    guard let listen = ListenAddress(text) else {
      throw .usage("--listen is a numeric address and a port, such as 127.0.0.1:8080, not \"\(text)\"")
    }
    let proxies = arguments.values(.proxy)
    guard listen.isLoopback || !proxies.isEmpty else {
      throw .usage("--listen \(text) is plain HTTP beyond loopback: name the TLS proxy in front with --proxy ADDRESS")
    }
    let publicURL = arguments.value(.publicURL)
    if let publicURL, !WebOrigin.isValid(publicURL) {
      throw .usage("--public-url is https://host[:port] in lower case, without a path, not \"\(publicURL)\"")
    }
    var merchant: ConfigurationFolder.Merchant?
    switch (arguments.value(.appleMerchant), arguments.value(.appleTeam)) {
    case (let id?, let team?): merchant = .init(id: id, team: team)
    case (nil, nil): break
    default: throw .usage("--apple-merchant and --apple-team go together")
    }
    return ConfigurationFolder.Choices(
      mode: mode, listen: listen, publicURL: publicURL, proxies: proxies,
      relyingParty: try arguments.required(.relyingParty), origins: arguments.values(.origin), merchant: merchant,
      anchors: arguments.values(.anchor))
  }
}

extension Option {
  fileprivate static let mode = Option(
    "mode", "MODE", "staging, for sandboxes, or live", occurrence: .required)
  fileprivate static let anchor = Option(
    "trust", "FILE", "a certificate of an issuing authority, PEM or DER; its settings stand beside it as .json",
    occurrence: .repeatable)
  fileprivate static let origin = Option(
    "origin", "URL", "a web origin that may ask, https://host[:port]", occurrence: .repeatable)
  fileprivate static let publicURL = Option(
    "public-url", "URL", "where wallets reach the server, https://host[:port]")
  fileprivate static let listen = Option(
    "listen", "HOST:PORT", "where to listen, a numeric address", fallback: "127.0.0.1:8080")
  fileprivate static let proxy = Option(
    "proxy", "ADDRESS", "address or network of a TLS proxy in front, where it is not this machine",
    occurrence: .repeatable)
  fileprivate static let relyingParty = Option(
    "relying-party", "ID", "the relying party's name in logs and addresses", fallback: "main")
  fileprivate static let appleMerchant = Option("apple-merchant", "ID", "the merchant identifier of your app")
  fileprivate static let appleTeam = Option("apple-team", "ID", "the team identifier of your app")
}
