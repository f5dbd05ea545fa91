import Base
import Cryptography

/// `mdoc keys`: makes the keys that a server's configuration names.
enum KeysCommand {
  static let command = Command("keys", "make the keys of a server", verbs: [generate])

  private static let generate = Command(
    "generate", "make a key; its file is its owner's alone and never overwrites another",
    options: [.type, .keyFile, .json],
    notes: [
      "encryption: a P-256 private key in PEM that Apple's in-app answers are encrypted to. "
        + "sealing: 32 random bytes, in hexadecimal, that seal data at rest. "
        + "api: a key for a relying party's backend. The configuration holds its SHA-256 only; without --out the key "
        + "is printed, this once."
    ],
    examples: [
      .init("An encryption key for Apple's merchant certificate", "mdoc keys generate --out keys/merchant.pem"),
      .init("A key that seals results at rest", "mdoc keys generate --type sealing --out keys/sealing.key"),
      .init("An API key, shown once", "mdoc keys generate --type api"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let key = try make(arguments.required(.type))
    let path = arguments.value(.keyFile)
    guard path != nil || key.isShown else { throw .usage("--out FILE is required: where to write the key") }
    if let path { try FileAccess.writeSecret(key.content, to: path) }
    var members = [JSON.Member("type", .string(key.type))] + key.facts.map { JSON.Member($0, .string($1)) }
    if let path { members.append(JSON.Member("file", .string(path))) }
    if path == nil { members.insert(JSON.Member("key", .string(key.text)), at: 1) }
    if arguments.has(.json) {
      console.print(.object(members))
    } else {
      let rows = members.map { ($0.name.replacing("_", with: " "), Printable.line($0.value.string ?? "")) }
      console.print(Wrapping.columns(rows, indent: 0, width: 240))
    }
    return .done
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
  /// Whether it may be printed if no file is given.
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
    "type", "TYPE", "what the key is for", fallback: "encryption", choices: ["encryption", "sealing", "api"])
  fileprivate static let keyFile = Option("out", "FILE", "a new file for the key; may be left out with api")
}
