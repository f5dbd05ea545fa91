import Base
import Cryptography

enum KeysCommand {
  static let command = Command("keys", "make the keys of a server", verbs: [generate])

  private static let generate = Command(
    "generate", "make a key in a new file, which only its owner may read",
    options: [.type, .keyFile, .json],
    notes: [
      "encryption: a P-256 private key in PEM that Apple's in-app responses are encrypted to. "
        + "sealing: 32 random bytes, in hexadecimal, that encrypt data at rest. "
        + "api: a key for a relying party's backend. The configuration holds its SHA-256 only; without --out the key "
        + "is printed once, now."
    ],
    examples: [
      .init("Make a key for Apple's merchant certificate", "mdoc keys generate --out keys/merchant.pem"),
      .init("Make a key for results at rest", "mdoc keys generate --type sealing --out keys/sealing.key"),
      .init("Make an API key and show it once", "mdoc keys generate --type api"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    let key = try make(arguments.required(.type))
    let path = arguments.value(.keyFile)
    guard path != nil || key.isShown else { throw .usage("--out FILE is required: where to write the key") }
    if let path { try FileAccess.writeSecret(key.content, to: path) }
    let facts =
      [("type", key.type)] + (path == nil ? [("key", key.text)] : []) + key.facts + (path.map { [("file", $0)] } ?? [])
    arguments.print(
      facts.map { .member($0, $1) } + [.table(facts.map { ($0.replacing("_", with: " "), $1) }, indent: 0, width: 240)])
  }

  private static func make(_ type: String) throws(Failure) -> MadeKey {
    do {
      switch type {
      case "encryption": return try .encryption()
      case "sealing": return try .sealing()
      default: return try .api()
      }
    } catch {
      throw .internal("the cryptographic library made no key")
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

  static func encryption() throws(CryptoError) -> MadeKey {
    let key = try PrivateKey(generatingOn: .p256)
    // Apple's envelopes identify the key that they are encrypted to by this hash.
    let hash = HashAlgorithm.sha256.hash(key.publicKey.encoded)
    return MadeKey(type: "encryption", content: try key.pem(), facts: [("public_key_sha256", Hex.encode(hash))])
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
    "type", "TYPE", "the purpose of the key", fallback: "encryption", choices: ["encryption", "sealing", "api"])
  fileprivate static let keyFile = Option("out", "FILE", "a new file for the key; optional for api")
}
