import Cryptography

/// What an app or a page may hold: good for submit and GET of one session, shown once, stored only as its SHA-256.
///
/// It is never printed. It stops working when its session is canceled or redacted, and ten minutes after the session's
/// time is over (HTTP API, Authentication).
public struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
  public static let prefix = "vcs_"
  /// 43 characters of base 62 are 256 bits.
  private static let characters = 43

  /// For the creation reply alone.
  public let text: String

  public init?(_ text: String) {
    guard RandomName.isValid(text, prefix: Self.prefix, characters: Self.characters) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  public static func random() throws(CryptoError) -> ClientSecret {
    ClientSecret(unchecked: try RandomName.make(prefix: prefix, characters: characters))
  }

  public var sha256: [UInt8] { HashAlgorithm.sha256.hash(Array(text.utf8)) }

  public var description: String { "ClientSecret(redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
