import App
import Base
import Mock
import PKIX
import TestMode

/// `mdoc mock lists`: writes the lists that the mock authority publishes as files.
enum MockLists {
  static let command = Command(
    "lists", "write the mock authority's revocation lists, status lists and lists of anchors",
    options: [.listFolder, .lists, .seed, .issuerCurve, .at, .json],
    notes: [
      "They belong to answers of the same --lists, --seed and --issuer-curve: a status list says what its own address is.",
      "Lists of anchors (VICAL, trusted entities) are in anchors/, the certificates to configure for their signers in "
        + "signers/.",
    ],
    examples: [
      .init("Lists for mdoc verify --list", "mdoc mock lists --lists https://lists.example/ --out lists")
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let authority = try MockCommand.authority(arguments)
    let now = try arguments.time(.at)
    let folder = try arguments.required(.listFolder)
    try FileAccess.makeFolder(folder)
    try FileAccess.makeFolder(folder + "/lists")
    var written: [JSON] = []
    func write(_ bytes: [UInt8], _ path: String, _ name: String, _ mediaType: String, _ code: Code?) throws(Failure) {
      try FileAccess.write(bytes, to: "\(folder)/\(path)")
      written.append([
        "file": .string(path), "name": .string(name), "media_type": .string(mediaType),
        "code": code.map { .string($0.rawValue) } ?? .null, "bytes": .integer(Int64(bytes.count)),
      ])
    }
    for list in MockPublishedList.all where list.manner == .serves {
      let bytes = try MockCommand.made { try list.published(by: authority, at: now) }
      try write(bytes, list.path, list.name, list.mediaType, list.code)
    }
    try FileAccess.makeFolder(folder + "/anchors")
    for list in MockAnchorList.all {
      let bytes = try MockCommand.made { try list.published(by: authority, at: now) }
      try write(bytes, list.path, list.name, list.mediaType, list.code)
    }
    try FileAccess.makeFolder(folder + "/signers")
    for format in MockAnchorList.Format.allCases {
      let root = try MockCommand.made { try format.signerAnchor(of: authority, at: now) }
      try FileAccess.write(
        Array(PEM.encode(certificate: root).utf8), to: "\(folder)/signers/\(format.rawValue).pem")
    }
    if arguments.has(.json) {
      console.print(["folder": .string(folder), "lists": .array(written)])
    } else {
      console.print(Printable.line("\(folder): \(written.count) lists"))
    }
    return .done
  }
}

/// `mdoc mock publish`: serves the same lists on this machine.
enum MockPublish {
  static let command = Command(
    "publish", "serve the mock authority's lists on this machine until SIGTERM or SIGINT",
    options: [.publisherListen, .seed, .issuerCurve, .json],
    notes: [
      "For documents of mdoc mock apple and mdoc mock response with the same --lists, --seed and --issuer-curve. "
        + "A server in test mode has a publisher of its own, and fetches from it. mdoc verify fetches from no address of "
        + "this machine: give it the files of mdoc mock lists, made with an https address, by --list."
    ],
    examples: [
      .init("A publisher", "mdoc mock publish --listen 127.0.0.1:9100"),
      .init(
        "And a document that it says is revoked",
        """
        mdoc mock apple … --lists http://127.0.0.1:9100/ \\
          --variant status-revoked --out answer.cbor
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let text = try arguments.required(.publisherListen)
    guard let listen = ListenAddress(text), listen.address == "127.0.0.1" else {
      throw .usage("--listen is 127.0.0.1:PORT, not \"\(text)\"")
    }
    let authority = try MockCommand.authority(arguments)
    do throws(StartError) {
      try await MockPublisher.run(port: listen.port, authority: authority) { address in
        console.print(arguments.has(.json) ? JSON.object([.init("lists_url", .string(address))]).text() : address)
      }
    } catch {
      throw .temporary(error.message)
    }
    return .done
  }
}

extension Option {
  static let lists = Option(
    "lists", "URL", "where the mock authority's lists are published, such as https://lists.example/ (default: nowhere)")
  fileprivate static let listFolder = Option(
    "out", "FOLDER", "a folder, made where it is missing", occurrence: .required)
  fileprivate static let publisherListen = Option(
    "listen", "HOST:PORT", "where to listen; port 0 is a free one", fallback: "127.0.0.1:9100")
}
