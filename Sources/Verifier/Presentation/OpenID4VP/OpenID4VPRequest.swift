import Base
import Cryptography
import JOSE
import Mdoc

/// An authorization request (OpenID4VP 1.0, 5 and A.3), in the forms in which wallets take it.
public struct OpenID4VPRequest: Sendable {
  /// Without what names the client.
  private let parameters: [JSON.Member]
  private let recipient: OpenID4VPRecipient

  /// - Parameter trustedAuthorities: key identifiers of issuing authorities whose documents alone are worth offering.
  public init(
    _ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge, trustedAuthorities: [[UInt8]] = []
  ) {
    let isEncrypted = challenge.key != nil
    let mode: String
    let responseURI: String?
    switch challenge.recipient {
    case .origin: (mode, responseURI) = ("dc_api", nil)
    case .client(_, let uri): (mode, responseURI) = ("direct_post", uri)
    }
    let members: KeyValuePairs<String, JSON?> = [
      "response_type": "vp_token", "response_mode": .string(isEncrypted ? mode + ".jwt" : mode),
      "response_uri": responseURI.map(JSON.string), "nonce": .string(challenge.nonce),
      "state": challenge.state.map(JSON.string),
      "dcql_query": DCQLQuery(request, trustedAuthorities: trustedAuthorities).json,
      "client_metadata": ClientMetadata.json(encryptionKey: challenge.key?.publicKey),
    ]
    parameters = JSON.members(members).object ?? []
    recipient = challenge.recipient
  }

  /// `data` of `openid4vp-v1-unsigned`: the parameters themselves. Without a signature there is no client identifier:
  /// the browser vouches for the origin.
  public var unsigned: JSON { .object(parameters) }

  /// The request object (RFC 9101), a compact JWS.
  ///
  /// - Parameter walletNonce: what the wallet wants to find again in it (5.10.1).
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    var members = [JSON.Member("client_id", .string(reader.clientID))] + claims
    if let walletNonce { members.append(JSON.Member("wallet_nonce", .string(walletNonce))) }
    return try reader.requestSigner().sign(JSON.object(members).serialized())
  }

  /// `request` of `openid4vp-v1-multisigned`: every reader names itself in its own protected header (A.3.2.2).
  public func signed(by readers: [ReaderIdentity]) throws(CryptoError) -> JSON {
    var signers: [JWSSigner] = []
    for reader in readers {
      signers.append(try reader.requestSigner(parameters: [JSON.Member("client_id", .string(reader.clientID))]))
    }
    return try JWSSigner.sign(JSON.object(claims).serialized(), by: signers)
  }

  /// What is signed beside the client identifier. The wallet compares `expected_origins` with the page that it is asked
  /// by, so that nobody can pass the request on; `aud` is that of wallets which are not discovered first (5.8).
  private var claims: [JSON.Member] {
    var claims = [JSON.Member("aud", "https://self-issued.me/v2")] + parameters
    if case .origin(let origin) = recipient { claims.append(JSON.Member("expected_origins", [.string(origin)])) }
    return claims
  }
}

/// It holds the session's nonce: neither logs nor error messages are to show it.
extension OpenID4VPRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "OpenID4VPRequest" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
