import App
import Base
import Sessions

enum InitCommand {
  static let command = Command(
    "init", "write a server's configuration, with new keys, into a new folder",
    options: [
      .mode, .system, .anchor, .origin, .publicURL, .listen, .proxy, .relyingParty, .pageName, .appleMerchant,
      .appleTeam, .json,
    ],
    operand: Operand(
      placeholder: "FOLDER", help: "the folder to make; it must not exist yet", isOptional: true),
    notes: [
      "The folder gets mdoc.json, keys/, trust/ and a .gitignore that keeps the keys out of a repository. The API key "
        + "is printed only now; the configuration has its SHA-256. Either the whole folder is written or nothing.",
      "--system is for the Debian package, as root: the folder is \(SystemPlaces.configuration), which may exist and "
        + "be "
        + "empty. Root owns its files, the group mdoc reads them, and the store is in \(SystemPlaces.state).",
      "staging trusts anchors of the tier test, such as a sandbox's; all other rules are the same as in live. The "
        + "files of --trust are copied: in staging a file without settings gets the tier test. Test mode needs no "
        + "folder: mdoc serve --test-mode.",
      "--public-url enables links and QR codes, and makes a reader key. Staging also makes an authority for it: "
        + "install the authority in the wallet. Live makes a certificate request. A TLS proxy or tunnel is expected on "
        + "this machine; --proxy gives the address of another.",
    ],
    examples: [
      .init(
        "Try real wallets with a sandbox's documents",
        """
        mdoc init staging --mode staging --trust sandbox-iaca.pem \\
          --origin https://shop.example --public-url https://id.shop.example
        """),
      .init(
        "Configure the Debian package's server",
        """
        mdoc init --system --mode live --trust iaca.pem \\
          --public-url https://id.shop.example --page-name "Example Shop"
        """),
      .init(
        "Serve an app that asks Apple Wallet",
        """
        mdoc init live --mode live --trust iaca.pem \\
          --apple-merchant merchant.example.shop --apple-team ABCDE12345
        """),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    guard var folder = arguments.operand ?? (arguments.has(.system) ? SystemPlaces.configuration : nil) else {
      throw .usage("FOLDER is required, unless --system is given")
    }
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    let made = try ConfigurationFolder(choices(arguments), at: .systemNow())
    try made.write(to: folder)
    arguments.print(made.report(in: folder))
  }

  private static func choices(_ arguments: Arguments) throws(Failure) -> ConfigurationFolder.Choices {
    let mode: ServerMode
    switch try arguments.required(.mode) {
    case "staging": mode = .staging
    case "live": mode = .live
    case "test": throw .usage("test mode needs no folder: mdoc serve --test-mode makes its own anchors and keys")
    case let other: throw .usage("--mode must be staging or live, not \"\(other)\"")
    }
    let listen = try arguments.address(.listen, "a numeric address and a port, such as 127.0.0.1:8080")
    let proxies = arguments.values(.proxy)
    guard listen.isLoopback || !proxies.isEmpty else {
      throw .usage("--listen \(listen) is plain HTTP beyond loopback: name the TLS proxy in front with --proxy ADDRESS")
    }
    let publicURL = arguments.value(.publicURL)
    if let publicURL, !WebOrigin.isValid(publicURL) {
      throw .usage("--public-url must be https://host[:port] in lower case, without a path, not \"\(publicURL)\"")
    }
    var merchant: (id: String, team: String)?
    switch (arguments.value(.appleMerchant), arguments.value(.appleTeam)) {
    case (let id?, let team?): merchant = (id, team)
    case (nil, nil): break
    default: throw .usage("give --apple-merchant and --apple-team together")
    }
    let relyingParty = try arguments.required(.relyingParty)
    let pageName = arguments.value(.pageName) ?? relyingParty
    guard HostedPage.isName(pageName) else {
      throw .usage("--page-name must have 1 to \(HostedPage.longestName) characters")
    }
    return ConfigurationFolder.Choices(
      mode: mode, listen: listen, publicURL: publicURL, proxies: proxies, relyingParty: relyingParty,
      pageName: pageName, isSystem: arguments.has(.system), origins: arguments.values(.origin), merchant: merchant,
      anchors: arguments.values(.anchor))
  }
}

extension Option {
  fileprivate static let mode = Option("mode", "MODE", "staging (for sandboxes) or live", occurrence: .required)
  fileprivate static let system = Option(flag: "system", "write the folder of the Debian package, as root")
  fileprivate static let pageName = Option(
    "page-name", "NAME", "your name on the hosted page (default: the name of --relying-party)")
  fileprivate static let anchor = Option(
    "trust", "FILE", "a certificate of an issuing authority, PEM or DER; its settings are beside it as .json",
    occurrence: .repeatable)
  fileprivate static let origin = Option(
    "origin", "URL", "a web origin that may make requests, https://host[:port]", occurrence: .repeatable)
  fileprivate static let publicURL = Option(
    "public-url", "URL", "the server's address for wallets, https://host[:port]")
  fileprivate static let listen = Option(
    "listen", "HOST:PORT", "the numeric address and port to listen on", fallback: "127.0.0.1:8080")
  fileprivate static let proxy = Option(
    "proxy", "ADDRESS", "address or network of a TLS proxy on another machine",
    occurrence: .repeatable)
  fileprivate static let relyingParty = Option(
    "relying-party", "ID", "the relying party's name in logs and addresses", fallback: "main")
  fileprivate static let appleMerchant = Option("apple-merchant", "ID", "the merchant identifier of your app")
  fileprivate static let appleTeam = Option("apple-team", "ID", "the team identifier of your app")
}
