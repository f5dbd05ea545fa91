import Base
import Cryptography
import JOSE
import Mdoc

/// The request object of ISO/IEC TS 18013-7:2024, B.4.2: draft 18 of OpenID4VP, with the prefix of the client identifier
/// in a parameter of its own.
public struct AnnexBRequest: Sendable {
  private let parameters: JSON

  /// Nil for a challenge of the Digital Credentials API or one without a key: this profile always encrypts.
  public init?(_ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge) {
    guard case .client(let clientID, let responseURI) = challenge.recipient, let key = challenge.key else { return nil }
    parameters = .members([
      "aud": "https://self-issued.me/v2", "response_type": "vp_token", "response_mode": "direct_post.jwt",
      "client_id": .string(clientID), "client_id_scheme": "x509_san_dns", "response_uri": .string(responseURI),
      "nonce": .string(challenge.nonce), "state": challenge.state.map(JSON.string),
      "presentation_definition": PresentationDefinition(request).json,
      "client_metadata": [
        "jwks": ["keys": [JSONWebKey.encryptionKey(key.publicKey)]],
        "authorization_encrypted_response_alg": .string(JWEHeader.algorithmName),
        "authorization_encrypted_response_enc": .string(JWEHeader.ContentEncryption.a256GCM.rawValue),
        "vp_formats": PresentationDefinition.format, "require_signed_request_object": true,
      ],
    ])
  }

  /// The request object (RFC 9101), a compact JWS.
  ///
  /// - Parameter walletNonce: later than this profile, but harmless to those who do not know it.
  public func signed(by reader: ReaderIdentity, walletNonce: String? = nil) throws(CryptoError) -> String {
    var members = parameters.object ?? []
    if let walletNonce { members.append(JSON.Member("wallet_nonce", .string(walletNonce))) }
    return try reader.requestSigner().sign(JSON.object(members).serialized())
  }
}

/// It holds the session's nonce: neither logs nor error messages are to show it.
extension AnnexBRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "AnnexBRequest" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
