import App
import Base
import Cryptography
import PKCS11

enum KeysCommand {
  static let command = Command("keys", "make the keys of a server", verbs: [generate, list])

  private static let generate = Command(
    "generate", "make a key in a new file, which only its owner may read, or in a token, which it never leaves",
    options: [.type, .curve, .keyFile, .token, .module, .json],
    notes: [
      "encryption: a P-256 private key in PEM that Apple's in-app responses are encrypted to. "
        + "reader: a private key that signs requests. "
        + "sealing: 32 random bytes, in hexadecimal, that encrypt data at rest; in a token, a secret key from which "
        + "the server derives them. "
        + "api: a key for a relying party's backend. The configuration holds its SHA-256 only; without --out the key "
        + "is printed once, now.",
      "--pkcs11 names the new key by RFC 7512, with object= and the token, and its PIN's file by pin-source=. "
        + "The configuration takes the printed name wherever it takes a key's file.",
    ],
    examples: [
      .init("Make a key for Apple's merchant certificate", "mdoc keys generate --out keys/merchant.pem"),
      .init("Make a key for results at rest", "mdoc keys generate --type sealing --out keys/sealing.key"),
      .init(
        "Make a reader's key in a token",
        """
        mdoc keys generate --type reader --module /usr/lib/softhsm/libsofthsm2.so \\
          --pkcs11 'pkcs11:token=mdoc;object=reader-1?pin-source=file:/etc/mdoc/pin'
        """),
      .init("Make an API key and show it once", "mdoc keys generate --type api"),
    ], work: run)

  private static let list = Command(
    "list", "list the private and secret keys of a token", options: [.module, .json],
    operand: Operand(placeholder: "URI", help: "the token, or a key in it (RFC 7512)"),
    notes: ["Without pin-source= in the name, most tokens show no private keys."],
    examples: [
      .init(
        "List a token's keys",
        """
        mdoc keys list --module /usr/lib/softhsm/libsofthsm2.so \\
          'pkcs11:token=mdoc?pin-source=file:/etc/mdoc/pin'
        """)
    ], work: listed)

  private static func listed(_ arguments: Arguments) throws(Failure) {
    let token = try OpenToken(arguments.operands[0], module: arguments.value(.module))
    let keys = try token.attempt { () throws(TokenError) in try token.module.list(token.uri, pin: token.pin) }
    let entries = keys.map { key in
      key.members + [table(key.facts)]
    }
    arguments.print([.list("keys", entries)] + (keys.isEmpty ? [.line("no keys")] : []))
  }

  private static func table(_ facts: [(String, String)]) -> Report {
    .table(facts.map { ($0.replacing("_", with: " "), $1) }, indent: 0, width: 240)
  }

  private static func run(_ arguments: Arguments) throws(Failure) {
    let path = arguments.value(.keyFile)
    if let name = arguments.value(.token) {
      guard path == nil else { throw .usage("--out and --pkcs11 exclude each other") }
      let key = try inToken(name, arguments)
      return arguments.print(key.members + [table(key.facts)])
    }
    let key = try make(arguments)
    guard path != nil || key.isShown else { throw .usage("--out FILE is required: where to write the key") }
    if let path { try FileAccess.writeSecret(key.content, to: path) }
    let facts =
      [("type", key.type)] + (path == nil ? [("key", key.text)] : []) + key.facts + (path.map { [("file", $0)] } ?? [])
    arguments.print(facts.map { .member($0, $1) } + [table(facts)])
  }

  private static func inToken(_ name: String, _ arguments: Arguments) throws(Failure) -> TokenEntry {
    let kind: TokenKeyKind =
      switch try arguments.required(.type) {
      case "encryption": .agreement
      case "reader": .signing(try curve(arguments))
      case "sealing": .secret
      default: throw .usage("an API key is not made in a token: only its SHA-256 is kept")
      }
    let token = try OpenToken(name, module: arguments.value(.module))
    return try token.attempt { () throws(TokenError) in try token.module.make(kind, token.uri, pin: token.pin) }
  }

  private static func curve(_ arguments: Arguments) throws(Failure) -> Curve {
    // The option's choices are curves.
    Curve(rawValue: try arguments.required(.curve)) ?? .p256
  }

  private static func make(_ arguments: Arguments) throws(Failure) -> MadeKey {
    let curve = try curve(arguments)
    do {
      switch try arguments.required(.type) {
      case "encryption": return try .pair("encryption", on: .p256)
      case "reader": return try .pair("reader", on: curve)
      case "sealing": return try .sealing()
      default: return try .api()
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw .internal("the cryptographic library made no key")
    }
  }
}

extension TokenEntry {
  /// The facts about the key that may be public.
  fileprivate var facts: [(String, String)] {
    [
      ("uri", uri), ("kind", kind.rawValue), ("type", type), ("uses", uses.joined(separator: ", ")),
      ("extractable", isExtractable ? "yes" : "no"),
    ] + (publicKey.map { [("public_key_sha256", Hex.encode(HashAlgorithm.sha256.hash($0.encoded)))] } ?? [])
  }

  fileprivate var members: [Report] {
    facts.map { name, text in
      switch name {
      case "uses": .member(name, uses)
      case "extractable": .member(name, isExtractable)
      default: .member(name, text)
      }
    }
  }
}

/// A new key: the content of its file, and the facts about it that may be public.
struct MadeKey {
  let type: String
  let content: [UInt8]
  let facts: [(String, String)]
  /// True if the key may be printed when no file is given.
  var isShown = false

  var text: String { String(decoding: content, as: UTF8.self).filter { !$0.isNewline } }

  static func encryption() throws(CryptoError) -> MadeKey { try pair("encryption", on: .p256) }

  static func pair(_ type: String, on curve: Curve) throws(CryptoError) -> MadeKey {
    let key = try PrivateKey(generatingOn: curve)
    // Apple's envelopes identify the recipient's key by this hash.
    let hash = HashAlgorithm.sha256.hash(key.publicKey.encoded)
    return MadeKey(type: type, content: try key.pem(), facts: [("public_key_sha256", Hex.encode(hash))])
  }

  static func sealing() throws(CryptoError) -> MadeKey {
    MadeKey(type: "sealing", content: Array((Hex.encode(try Random.bytes(32)) + "\n").utf8), facts: [])
  }

  static func api() throws(CryptoError) -> MadeKey {
    let text = "ak_" + Base64.encodeURLSafe(try Random.bytes(32))
    let hash = HashAlgorithm.sha256.hash(Array(text.utf8))
    return MadeKey(
      type: "api", content: Array((text + "\n").utf8), facts: [("sha256", Hex.encode(hash))], isShown: true)
  }
}

extension Option {
  fileprivate static let type = Option(
    "type", "TYPE", "the purpose of the key", fallback: "encryption",
    choices: ["encryption", "reader", "sealing", "api"])
  fileprivate static let curve = Option(
    "curve", "CURVE", "the curve of a reader's key", fallback: "P-256", choices: ["P-256", "P-384", "P-521"])
  fileprivate static let keyFile = Option("out", "FILE", "a new file for the key; optional for api")
  fileprivate static let token = Option("pkcs11", "URI", "the new key's name in a PKCS #11 token, instead of --out")
  fileprivate static let module = Option("module", "FILE", "the PKCS #11 module, unless the name has module-path=")
}
