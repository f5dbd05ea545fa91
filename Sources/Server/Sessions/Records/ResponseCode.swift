import Base
import Cryptography

/// What the wallet carries back to the browser that sent it, in the fragment of the redirect: whoever presents it began
/// the session and ended it in one place, which keeps a victim's answer from an attacker's session
/// (OpenID4VP 1.0, 8.2 and 13.3).
///
/// It is shown once, to the wallet, and stored only as its SHA-256, sealed with the result that it opens.
struct ResponseCode: Sendable, CustomStringConvertible, CustomReflectable {
  static let prefix = "vrc_"
  /// 43 characters of base 62 are 256 bits.
  private static let characters = 43

  /// For the wallet's reply alone.
  let text: String

  static func random() throws(CryptoError) -> ResponseCode {
    ResponseCode(text: try RandomName.make(prefix: prefix, characters: characters))
  }

  var sha256: [UInt8] { Self.sha256(of: text) }

  static func sha256(of text: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(text.utf8)) }

  var description: String { "ResponseCode(redacted)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
