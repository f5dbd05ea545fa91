import Base
import Cryptography

package enum SessionKind: NameKind { package static let prefix = "vs_" }
package enum ReportKind: NameKind { package static let prefix = "vr_" }
package enum AttemptKind: NameKind { package static let prefix = "va_" }

package typealias SessionID = RandomName<SessionKind>
/// The id of an attempt's report, with the characters of the session's id. Ids from before schema 6 are random.
package typealias ReportID = RandomName<ReportKind>
/// The id of one attempt at a challenge. An outcome is recorded only for the attempt that consumed the challenge.
package typealias AttemptID = RandomName<AttemptKind>

package protocol NameKind { static var prefix: String { get } }

/// A prefix and 22 base-62 characters. Their 131 random bits cannot be guessed.
package struct RandomName<Kind: NameKind>: Sendable, Hashable, CustomStringConvertible {
  package static var prefix: String { Kind.prefix }
  /// A regular expression (ECMA-262) for every name of the kind.
  package static var pattern: String { Base62.pattern(prefix: prefix) }
  package let text: String

  /// Nil if the text is malformed. Only the store knows whether the record exists.
  package init?(_ text: String) {
    guard Base62.isValid(text, prefix: Self.prefix) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  package static func random() throws(CryptoError) -> Self { Self(unchecked: try Base62.make(prefix: prefix)) }

  package var description: String { text }

  /// The characters after the prefix.
  var characters: Substring { text.dropFirst(Self.prefix.count) }

  /// The name of another kind with the same characters.
  private func renamed<Other>() -> RandomName<Other> { RandomName<Other>(unchecked: Other.prefix + characters) }
}

extension ReportID {
  package init(of session: SessionID) { self = session.renamed() }

  /// The id of the session with the same characters. There may be no such session.
  package var session: SessionID { renamed() }
}

/// Random strings of letters and digits. A double click selects them whole, and URLs and shells need no escaping.
enum Base62 {
  static let characters = 22
  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  static func make(prefix: String, characters: Int = characters) throws(CryptoError) -> String {
    var text = Array(prefix.utf8)
    let length = text.count + characters
    while text.count < length {
      // 248 is the largest multiple of 62 that fits in a byte. Bytes of 248 and above would favour the first
      // characters, so they are dropped.
      for byte in try Random.bytes(characters * 2) where byte < 248 && text.count < length {
        text.append(alphabet[Int(byte) % 62])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func pattern(prefix: String, characters: Int = characters, suffix: String = "") -> String {
    "^\(prefix)[0-9A-Za-z]{\(characters)}\(suffix)$"
  }

  static func isValid(_ text: String, prefix: String, characters: Int = characters) -> Bool {
    let bytes = text.utf8
    return bytes.count == prefix.utf8.count + characters && text.hasPrefix(prefix)
      && bytes.dropFirst(prefix.utf8.count).allSatisfy(\.isAlphanumeric)
  }
}

/// The secret with which an app or a page submits to one session and reads it with GET. It is shown once, stored only
/// as its SHA-256, and never printed. It ends when its session is canceled or redacted, or ten minutes after the
/// session expires.
package struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
  package static let prefix = "vcs_"
  /// 256 bits in base 62. The characters of the session's id come first, except in secrets issued before schema 6.
  private static let characters = 43

  /// The secret as text, only for the reply to the session's creation.
  package let text: String

  package init?(_ text: String) {
    let lengths = [Self.characters, Base62.characters + Self.characters]
    guard lengths.contains(where: { Base62.isValid(text, prefix: Self.prefix, characters: $0) }) else { return nil }
    self.text = text
  }

  package static func random(of session: SessionID) throws(CryptoError) -> ClientSecret {
    ClientSecret(unchecked: try Base62.make(prefix: prefix + session.characters, characters: characters))
  }

  private init(unchecked text: String) { self.text = text }

  /// The session in the secret; nil for secrets issued before schema 6.
  package var session: SessionID? {
    let characters = text.dropFirst(Self.prefix.count).dropLast(Self.characters)
    return SessionID(SessionID.prefix + characters)
  }

  package var sha256: [UInt8] { HashAlgorithm.sha256.hash(Array(text.utf8)) }

  package var description: String { "ClientSecret(redacted)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Proves that the returning browser submitted the response. It prevents an attacker from reading the result of a
/// victim's response (OpenID4VP 1.0, 8.2 and 13.3). The code is shown once. Only its SHA-256 is stored, sealed with the
/// result.
struct ResponseCode: Sendable, CustomStringConvertible, CustomReflectable {
  static let prefix = "vrc_"
  /// 43 characters of base 62 are 256 bits.
  private static let characters = 43

  /// The code as text, only for the reply to the submitted response.
  let text: String

  static func random() throws(CryptoError) -> ResponseCode {
    ResponseCode(text: try Base62.make(prefix: prefix, characters: characters))
  }

  var hash: ResponseCodeHash { ResponseCodeHash(of: text) }

  var description: String { "ResponseCode(redacted)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

/// The SHA-256 of a response code. A browser that makes its own code sends only this hash.
package struct ResponseCodeHash: Sendable, Hashable {
  /// A regular expression (ECMA-262) for 32 bytes in base64url.
  package static let pattern = "^\(characters)$"
  static let characters = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"

  let bytes: [UInt8]
  package var text: String { Base64.encodeURLSafe(bytes) }

  init(of code: String) { bytes = HashAlgorithm.sha256.hash(Array(code.utf8)) }

  package init?(_ text: String) {
    guard let bytes = Base64.decodeURLSafe(text), bytes.count == 32 else { return nil }
    self.bytes = bytes
  }
}

/// A session's name in its wallet addresses. It begins with the session's id. If a browser made a response code, a full
/// stop and the code's hash follow. The hash binds the response to the page whose link or QR code the wallet followed.
package struct WalletPath: Sendable, Hashable {
  /// A regular expression (ECMA-262) for every name.
  package static let pattern = "\(SessionID.pattern.dropLast())(\\.\(ResponseCodeHash.characters))?$"

  package let session: SessionID
  let code: ResponseCodeHash?

  init(_ session: SessionID, _ code: ResponseCodeHash?) {
    self.session = session
    self.code = code
  }

  package init?(_ text: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let code = parts.count > 1 ? ResponseCodeHash(parts[1]) : nil
    guard let session = SessionID(parts[0]), parts.count == 1 || code != nil else { return nil }
    self.init(session, code)
  }

  /// Replaces the id with this name in one of the session's wallet addresses.
  package func renaming(_ address: String) -> String {
    code.map { address.replacing(session.text, with: "\(session.text).\($0.text)") } ?? address
  }
}
