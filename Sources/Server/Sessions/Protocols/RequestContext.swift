import Base
import Cryptography
import Mdoc
import Presentation

/// A session's name in the addresses that its wallet gets: the id. Where a browser has made a response code, the code's
/// hash follows a full stop: the answer is then bound to the page whose link or QR code the wallet followed.
package struct WalletPath: Sendable, Hashable {
  /// All that a name can be, as a regular expression (ECMA-262).
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

  /// An address of the session's wallet with this name in place of the id.
  func renaming(_ address: String) -> String {
    code.map { address.replacing(session.text, with: "\(session.text).\($0.text)") } ?? address
  }
}

extension OpenID4VPChallenge {
  /// Restores what was kept of a challenge, with the `response_uri` of the addresses that its wallet got, also where
  /// that is the client's identifier (`redirect_uri:`).
  init?(kept material: borrowing SecretBytes, for path: WalletPath) {
    self.init(serialized: material)
    if case .client(let id, let uri) = recipient {
      recipient = .client(id: path.renaming(id), responseURI: path.renaming(uri))
    }
  }
}

/// Where wallets reach one session on this server, by redirect or QR code (OpenID4VP 1.0, 5.10 and 8.2).
package struct WalletAddresses: Sendable, Hashable {
  /// `request_uri`.
  package let request: String
  /// `response_uri`.
  package let response: String
  /// The server's host, without its port.
  package let host: String

  /// - Parameter publicURL: `https://host[:port]`, without a path.
  init(publicURL: String, session: SessionAddress) {
    let base = [publicURL, "v1/wallet", Self.escaped(session.relyingParty), session.id.text].joined(separator: "/")
    request = base + "/request"
    response = base + "/response"
    host = Self.host(of: publicURL)
  }

  /// The address that opens a wallet, with the request by reference (RFC 9101, 5.2).
  func authorizationRequest(scheme: String, clientID: String) -> String {
    Self.link(
      scheme: scheme, [("client_id", clientID), ("request_uri", request), ("request_uri_method", "post")])
  }

  static func link(scheme: String, _ parameters: [(name: String, value: String)]) -> String {
    scheme + "://?" + parameters.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
  }

  /// All but the unreserved characters in their percent-encoding (RFC 3986, 2.1).
  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte]).uppercased()
      }
    }.joined()
  }

  /// An address in brackets (RFC 3986, 3.2.2) has colons of its own.
  private static func host(of url: String) -> String {
    let authority = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
    return String(authority.prefix { $0 != ":" })
  }
}

extension RequestContext {
  /// The addresses of this session.
  ///
  /// - Throws: `api.protocol_unsupported` if the operator has configured no `public_url`.
  func walletAddresses(for wallet: some WalletProtocol) throws(ServiceError) -> WalletAddresses {
    guard let publicURL else {
      throw ServiceError(
        .apiProtocolUnsupported,
        "`\(wallet.name)` needs the address at which wallets reach this server (`public_url`), which is not configured."
      )
    }
    return WalletAddresses(publicURL: publicURL, session: session)
  }
}

extension RequestContext {
  /// The reader that signs the request: the first that is valid now. Wallets refuse the signature of an expired reader
  /// without saying why. Nil if the relying party has no reader.
  func currentReader() throws(ServiceError) -> ReaderIdentity? {
    let valid = relyingParty.readers.first { $0.validity?.contains(now) ?? false }
    guard valid != nil || relyingParty.readers.isEmpty else { throw ServiceError(.readerCertificateExpired) }
    return valid
  }
}

/// Who signs the requests of a session (OpenID4VP 1.0, 5.9.3 and A.3.2).
extension RequestContext {
  /// Those who sign in the relying party's name, at least one, all of them valid now.
  func signingReaders(for wallet: some WalletProtocol) throws(ServiceError) -> [ReaderIdentity] {
    guard !relyingParty.readers.isEmpty else {
      throw ServiceError(
        .apiProtocolUnsupported, "`\(wallet.name)` needs a reader, and this relying party has none configured.")
    }
    let valid = relyingParty.readers.filter { $0.validity?.contains(now) ?? false }
    guard !valid.isEmpty else { throw ServiceError(.readerCertificateExpired) }
    return valid
  }

  /// A reader that is valid now and has the name in the session's request. Its certificate may have been replaced since
  /// the request was made.
  ///
  /// - Parameter isNamed: whether the `client_id`, as the protocol writes it, names this reader.
  func reader(
    for recipient: OpenID4VPRecipient, isNamed: (ReaderIdentity, String) -> Bool
  ) throws(ServiceError) -> ReaderIdentity {
    let named = relyingParty.readers.filter { reader in
      if case .client(let id, _) = recipient { isNamed(reader, id) } else { false }
    }
    guard !named.isEmpty else {
      throw ServiceError(.apiProtocolUnsupported, "The reader of this session's request is no longer configured.")
    }
    guard let valid = named.first(where: { $0.validity?.contains(now) ?? false }) else {
      throw ServiceError(.readerCertificateExpired)
    }
    return valid
  }
}
