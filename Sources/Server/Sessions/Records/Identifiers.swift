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
