import Cryptography

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
