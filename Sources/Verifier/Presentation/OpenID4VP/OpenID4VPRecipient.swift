import CBOR
import Cryptography
import Mdoc

/// Where an OpenID4VP answer goes: what its SessionTranscript binds beside nonce and key.
public enum OpenID4VPRecipient: Sendable, Hashable {
  /// A page, through the Digital Credentials API: its origin, `https://host[:port]`, compared by its bytes alone.
  case origin(String)
  /// A server, by `direct_post`: the request's `client_id` with its prefix, and `response_uri`.
  case client(id: String, responseURI: String)

  /// `[null, null, Handover]` of OpenID4VP 1.0, B.2.6.1 and B.2.6.2.
  ///
  /// - Parameter thumbprint: of the key that the answer is encrypted to, bytes or null; a value, so that mistakes of
  ///   wallets can be explained.
  package func transcript(nonce: String, thumbprint: CBORValue) -> SessionTranscript {
    switch self {
    case .origin(let origin):
      Self.transcript("OpenID4VPDCAPIHandover", [.text(origin), .text(nonce), thumbprint])
    case .client(let id, let responseURI):
      Self.transcript("OpenID4VPHandover", [.text(id), .text(nonce), thumbprint, .text(responseURI)])
    }
  }

  /// `[null, null, [name, SHA-256(CBOR(info))]]`.
  static func transcript(_ name: String, _ info: [CBORValue]) -> SessionTranscript {
    let hash = HashAlgorithm.sha256.hash(CBORValue.array(info).encoded())
    return SessionTranscript(written: [nil, nil, [.text(name), .bytes(hash)]])
  }
}
