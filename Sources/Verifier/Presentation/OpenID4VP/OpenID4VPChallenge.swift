import Base
import CBOR
import Cryptography
import JOSE
import Mdoc

/// The challenge for an OpenID4VP response: the nonce, recipient and state of one request, and the key to which the
/// response is encrypted.
///
/// A challenge cannot be copied: opening a response consumes it.
public struct OpenID4VPChallenge: ~Copyable, Sendable {
  public package(set) var recipient: OpenID4VPRecipient
  public let nonce: String
  /// The state of a response that the wallet posts; nil over the Digital Credentials API, whose responses have no
  /// state.
  public let state: String?
  /// The encryption key; nil if the response is not encrypted.
  let key: PrivateKey?

  /// Makes a challenge with a fresh nonce, state and key. Nonce and state are base64url, which every wallet accepts.
  public init(freshFor recipient: OpenID4VPRecipient, isEncrypted: Bool) throws(CryptoError) {
    let nonce = Base64.encodeURLSafe(try Random.bytes(Limits.nonceBytes))
    let state: String? =
      if case .client = recipient { Base64.encodeURLSafe(try Random.bytes(Limits.nonceBytes)) } else { nil }
    let key = isEncrypted ? try PrivateKey(generatingOn: .p256) : nil
    self.init(recipient: recipient, nonce: nonce, state: state, key: key)
  }

  /// Restores a challenge from the parts that were sent.
  public init(recipient: OpenID4VPRecipient, nonce: String, state: String?, key: PrivateKey?) {
    self.recipient = recipient
    self.nonce = nonce
    self.state = state
    self.key = key
  }

  /// Whether a response or an error has this request's state, in constant time. False if the request has no state.
  public borrowing func isState(_ given: String?) -> Bool {
    guard let state, let given else { return false }
    return constantTimeEqual(Array(state.utf8), Array(given.utf8))
  }

  /// Checks `state`. A missing state is only a warning: nonce and `response_uri` in the transcript bind the response to
  /// the session. An error must have the state, since nothing in an error is signed (RFC 6749, 4.1.2.1).
  /// - Parameter outer: the `state` beside a JWE, for the detail.
  borrowing func acceptsState(
    of parameters: JSON, beside outer: JSON?, isStrict: Bool, _ checks: inout CheckList
  ) -> Bool {
    guard state != nil else { return true }
    let missing = outer == nil ? "state is missing" : "state is beside the JWE, not in it"
    guard parameters["state"] != nil || parameters["vp_token"] == nil && parameters["error"] != nil else {
      checks.expect(false, .stateMissing, missing, isStrict: isStrict)
      return !isStrict
    }
    let found = parameters["state"]
    let isOurs = isState(found?.string)
    let other = found?.string == nil ? "state is not a string" : "state differs from the request's"
    checks.require(isOurs, .stateMismatch, found == nil ? missing + "; an error must have the request's" : other)
    if isOurs { checks.passed(.stateMissing) }
    return isOurs
  }

  /// The key's thumbprint in the handover; null without encryption.
  var thumbprint: CBORValue { key.map { .bytes(JSONWebKey.thumbprint(of: $0.publicKey)) } ?? nil }

  /// The transcript that device and reader sign.
  public var transcript: SessionTranscript { recipient.transcript(nonce: nonce, thumbprint: thumbprint) }

  /// The challenge as bytes, to be encrypted at rest: the length of the private scalar (0 without a key), the scalar,
  /// then the rest as JSON.
  public borrowing func serialized() throws(CryptoError) -> SecretBytes {
    let (origin, clientID, responseURI): (String?, String?, String?) =
      switch recipient {
      case .origin(let origin): (origin, nil, nil)
      case .client(let id, let responseURI): (nil, id, responseURI)
      }
    let json = JSON.members([
      "nonce": .string(nonce), "state": state.map(JSON.string), "origin": origin.map(JSON.string),
      "client_id": clientID.map(JSON.string), "response_uri": responseURI.map(JSON.string),
    ])
    guard let key else { return SecretBytes(copying: [0] + json.serialized()) }
    return try SecretBytes(prefix: [32], scalarOf: key, followedBy: json)
  }

  /// Restores a challenge from the bytes of `serialized`; nil for other bytes.
  public init?(serialized: borrowing SecretBytes) {
    let length = serialized.withUnsafeBytes { $0.first.map(Int.init) } ?? 0
    guard let (key, json) = serialized.keyAndJSON(scalarAt: 1..<(1 + length)),
      let nonce = json["nonce"]?.string
    else { return nil }
    let recipient: OpenID4VPRecipient
    if let origin = json["origin"]?.string {
      recipient = .origin(origin)
    } else if let id = json["client_id"]?.string, let responseURI = json["response_uri"]?.string {
      recipient = .client(id: id, responseURI: responseURI)
    } else {
      return nil
    }
    self.init(recipient: recipient, nonce: nonce, state: json["state"]?.string, key: key)
  }
}

/// The recipient of an OpenID4VP response. The SessionTranscript binds it, together with nonce and key.
public enum OpenID4VPRecipient: Sendable, Hashable {
  /// A page, through the Digital Credentials API: its origin, `https://host[:port]`, compared by its bytes.
  case origin(String)
  /// A server, by `direct_post`: the request's `client_id` with its prefix, and `response_uri`.
  case client(id: String, responseURI: String)

  /// `[null, null, Handover]` of OpenID4VP 1.0, B.2.6.1 and B.2.6.2.
  /// - Parameter thumbprint: the thumbprint of the key to which the response is encrypted: bytes or null. It is a CBOR
  ///   value, so that wallets' mistakes in its encoding can be explained.
  package func transcript(nonce: String, thumbprint: CBORValue) -> SessionTranscript {
    switch self {
    case .origin(let origin):
      Self.transcript("OpenID4VPDCAPIHandover", [.text(origin), .text(nonce), thumbprint])
    case .client(let id, let responseURI):
      Self.transcript("OpenID4VPHandover", [.text(id), .text(nonce), thumbprint, .text(responseURI)])
    }
  }

  /// The transcript with the thumbprint's bytes, which are nil without encryption.
  package func transcript(nonce: String, keyThumbprint thumbprint: [UInt8]?) -> SessionTranscript {
    transcript(nonce: nonce, thumbprint: thumbprint.map { .bytes($0) } ?? nil)
  }

  /// The address with a slash added or removed at its end. Wallets may confuse the two forms.
  static func withOtherEnd(_ address: String) -> String {
    address.hasSuffix("/") ? String(address.dropLast()) : address + "/"
  }

  /// `[null, null, [name, SHA-256(CBOR(info))]]`.
  static func transcript(_ name: String, _ info: [CBORValue]) -> SessionTranscript {
    let hash = HashAlgorithm.sha256.hash(CBORValue.array(info).encoded())
    return SessionTranscript(written: [nil, nil, [.text(name), .bytes(hash)]])
  }
}
