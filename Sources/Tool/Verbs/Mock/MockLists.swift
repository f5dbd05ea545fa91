import App
import Base
import Mock
import PKIX
import TestMode

enum MockLists {
  static let command = Command(
    "lists", "write the mock authority's revocation lists, status lists and lists of anchors",
    options: [.mockFolder, .lists, .seed, .issuerCurve, .at, .json],
    notes: [
      "The lists fit responses of the same --lists, --seed and --issuer-curve: a status list contains its own address.",
      "Lists of anchors (VICAL, trusted entities) are in anchors/, the certificates to configure for their signers in "
        + "signers/.",
    ],
    examples: [
      .init("Write lists for mdoc verify --list", "mdoc mock lists --lists https://lists.example/ --out lists")
    ],
    work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let authority = try MockCommand.authority(arguments)
    let now = try arguments.time(.at)
    let folder = try arguments.required(.mockFolder)
    try FileAccess.makeFolder(folder)
    try FileAccess.makeFolder(folder + "/lists")
    var written: [JSON] = []
    func write(_ bytes: [UInt8], _ path: String, _ name: String, _ mediaType: String, _ code: Code?) throws(Failure) {
      try FileAccess.write(bytes, to: "\(folder)/\(path)")
      written.append(
        .of(["file": path, "name": name, "media_type": mediaType, "code": code?.rawValue, "bytes": bytes.count]))
    }
    for list in MockPublishedList.all where list.manner == .serves {
      let bytes = try MockCommand.made { try list.published(by: authority, at: now) }
      try write(bytes, list.path, list.name, list.mediaType, list.code)
    }
    try FileAccess.makeFolder(folder + "/anchors")
    for list in MockList.ofAnchors {
      let bytes = try MockCommand.made { try list.published(by: authority, now: now) }
      try write(bytes, list.anchorPath, list.name, list.mediaType, list.code)
    }
    try FileAccess.makeFolder(folder + "/signers")
    for kind in MockList.Kind.ofAnchors {
      let root = try MockCommand.made { try kind.signerAnchor(of: authority, at: now) }
      try FileAccess.write(Array(PEM.encode(certificate: root).utf8), to: "\(folder)/signers/\(kind.rawValue).pem")
    }
    arguments.print([.members(["folder": folder, "lists": written]), .line("\(folder): \(written.count) lists")])
  }
}

enum MockPublish {
  static let command = Command(
    "publish", "serve the mock authority's lists on this machine until SIGTERM or SIGINT",
    options: [.publisherListen, .seed, .issuerCurve, .json],
    notes: [
      "For documents of mdoc mock apple and mdoc mock response with the same --lists, --seed and --issuer-curve. A "
        + "server in test mode has its own publisher, and fetches from it. mdoc verify fetches from no address of this "
        + "machine: give it the files of mdoc mock lists, made with an https address, by --list."
    ],
    examples: [
      .init("Start a publisher", "mdoc mock publish --listen 127.0.0.1:9100"),
      .init(
        "Make a document that the list revokes",
        """
        mdoc mock apple … --lists http://127.0.0.1:9100/ \\
          --variant status-revoked --out response.cbor
        """),
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let listen = try arguments.address(.publisherListen, "127.0.0.1:PORT") { $0.address == "127.0.0.1" }
    let authority = try MockCommand.authority(arguments)
    do throws(StartError) {
      try await MockPublisher.run(port: listen.port, authority: authority) { address in
        arguments.console.print(
          arguments.has(.json) ? JSON.object([.init("lists_url", .string(address))]).text() : address)
      }
    } catch {
      throw .temporary(error.message)
    }
  }
}

extension Option {
  static let lists = Option(
    "lists", "URL", "where the mock authority's lists are published, such as https://lists.example/ (default: nowhere)")
  static let mockFolder = Option("out", "FOLDER", "a folder, created if it is missing", occurrence: .required)
  fileprivate static let publisherListen = Option(
    "listen", "HOST:PORT", "the address to listen on; port 0 takes a free port", fallback: "127.0.0.1:9100")
}
