import Base
import Cryptography

/// A session's name, `vs_` and 22 characters of base 62: 131 random bits, so that it cannot be guessed.
package struct SessionID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "vs_"
  /// All that an id can be, as a regular expression (ECMA-262).
  package static let pattern = RandomName.pattern(prefix: prefix)
  package let text: String

  /// The id, or nil where the text cannot be one; whether it exists only the store knows.
  package init?(_ text: String) {
    guard RandomName.isValid(text, prefix: Self.prefix) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  package static func random() throws(CryptoError) -> SessionID {
    SessionID(unchecked: try RandomName.make(prefix: prefix))
  }

  package var description: String { text }

  /// What follows the prefix.
  var characters: Substring { text.dropFirst(Self.prefix.count) }
}

/// The name of one attempt's report, `vr_…`: a session has one at most, and both have the same characters, so that a
/// report is found by its session. Those of before are random.
package struct ReportID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "vr_"
  /// All that an id can be, as a regular expression (ECMA-262).
  package static let pattern = RandomName.pattern(prefix: prefix)
  package let text: String

  package init?(_ text: String) {
    guard RandomName.isValid(text, prefix: Self.prefix) else { return nil }
    self.text = text
  }

  package init(of session: SessionID) { text = Self.prefix + session.characters }

  /// The session that it would be of; of a name of before there is none.
  package var session: SessionID? { SessionID(SessionID.prefix + text.dropFirst(Self.prefix.count)) }

  package var description: String { text }
}

/// The name of one attempt to answer a challenge: an outcome is recorded only for the attempt that consumed it.
package struct AttemptID: Sendable, Hashable {
  package static let prefix = "va_"
  package let text: String

  package init?(_ text: String) {
    guard RandomName.isValid(text, prefix: Self.prefix) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  package static func random() throws(CryptoError) -> AttemptID {
    AttemptID(unchecked: try RandomName.make(prefix: prefix))
  }
}

/// Random names of letters and digits alone, which survive a double click, a URL and a shell.
enum RandomName {
  static let characters = 22
  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  static func make(prefix: String, characters: Int = characters) throws(CryptoError) -> String {
    var text = Array(prefix.utf8)
    let length = text.count + characters
    while text.count < length {
      // 248 is the largest multiple of 62 in a byte: what is above it would favour the first characters.
      for byte in try Random.bytes(characters * 2) where byte < 248 && text.count < length {
        text.append(alphabet[Int(byte) % 62])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  static func pattern(prefix: String, characters: Int = characters, suffix: String = "") -> String {
    "^\(prefix)[0-9A-Za-z]{\(characters)}\(suffix)$"
  }

  static func isValid(_ text: String, prefix: String, characters: Int = characters) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == prefix.utf8.count + characters && text.hasPrefix(prefix)
      && bytes.dropFirst(prefix.utf8.count).allSatisfy(isCharacter)
  }
}

/// What an app or a page may hold: good for submit and GET of one session, shown once, stored only as its SHA-256.
///
/// It is never printed. It stops working when its session is canceled or redacted, and ten minutes after the session's
/// time is over (HTTP API, Authentication).
package struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
  package static let prefix = "vcs_"
  /// 43 characters of base 62 are 256 bits. Before them stand those of the session's id, by which it is found; in
  /// secrets of before nothing does.
  private static let characters = 43

  /// For the creation reply alone.
  package let text: String

  package init?(_ text: String) {
    let lengths = [Self.characters, RandomName.characters + Self.characters]
    guard lengths.contains(where: { RandomName.isValid(text, prefix: Self.prefix, characters: $0) }) else { return nil }
    self.text = text
  }

  package static func random(of session: SessionID) throws(CryptoError) -> ClientSecret {
    ClientSecret(unchecked: try RandomName.make(prefix: prefix + session.characters, characters: characters))
  }

  private init(unchecked text: String) { self.text = text }

  /// Whose it says it is; nil in secrets of before.
  package var session: SessionID? {
    let characters = text.dropFirst(Self.prefix.count).dropLast(Self.characters)
    return SessionID(SessionID.prefix + characters)
  }

  package var sha256: [UInt8] { HashAlgorithm.sha256.hash(Array(text.utf8)) }

  package var description: String { "ClientSecret(redacted)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Only the browser that answered brings it back to the relying party: this keeps a victim's answer from an attacker's
/// session (OpenID4VP 1.0, 8.2 and 13.3).
///
/// It is shown once, in the reply to the answer, and stored only as its SHA-256, sealed with the result that it opens.
struct ResponseCode: Sendable, CustomStringConvertible, CustomReflectable {
  static let prefix = "vrc_"
  /// 43 characters of base 62 are 256 bits.
  private static let characters = 43

  /// For the reply to the answer alone.
  let text: String

  static func random() throws(CryptoError) -> ResponseCode {
    ResponseCode(text: try RandomName.make(prefix: prefix, characters: characters))
  }

  var hash: ResponseCodeHash { ResponseCodeHash(of: text) }

  var description: String { "ResponseCode(redacted)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

/// SHA-256 of a response code's text, as a browser gives it that makes its code itself: the server then learns the code
/// only from the backend that reads the result.
package struct ResponseCodeHash: Sendable, Hashable {
  /// 32 bytes in base64url, as a regular expression (ECMA-262).
  package static let pattern = "^\(characters)$"
  static let characters = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"

  let bytes: [UInt8]
  var text: String { Base64.encodeURLSafe(bytes) }

  init(of code: String) { bytes = HashAlgorithm.sha256.hash(Array(code.utf8)) }

  package init?(_ text: String) {
    guard let bytes = Base64.decodeURLSafe(text), bytes.count == 32 else { return nil }
    self.bytes = bytes
  }
}
