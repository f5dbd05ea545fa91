import Base
import CBOR
import Cryptography
import JOSE
import Mdoc

/// What an OpenID4VP answer must fit: the nonce, recipient and state of one request, and the key to which the answer is
/// encrypted.
///
/// It can't be copied: opening an answer with it uses it up.
public struct OpenID4VPChallenge: ~Copyable, Sendable {
  public package(set) var recipient: OpenID4VPRecipient
  public let nonce: String
  /// The state of an answer that the wallet posts; nil over the Digital Credentials API, which has none.
  public let state: String?
  /// Nil if the answer comes without encryption.
  let key: PrivateKey?

  /// A challenge with a fresh nonce, state and key; nonce and state are base64url, which every wallet takes.
  public init(freshFor recipient: OpenID4VPRecipient, isEncrypted: Bool) throws(CryptoError) {
    let nonce = Base64.encodeURLSafe(try Random.bytes(Limits.nonceBytes))
    let state: String? =
      if case .client = recipient { Base64.encodeURLSafe(try Random.bytes(Limits.nonceBytes)) } else { nil }
    let key = isEncrypted ? try PrivateKey(generatingOn: .p256) : nil
    self.init(recipient: recipient, nonce: nonce, state: state, key: key)
  }

  /// Restores a challenge from its parts as they were sent.
  public init(recipient: OpenID4VPRecipient, nonce: String, state: String?, key: PrivateKey?) {
    self.recipient = recipient
    self.nonce = nonce
    self.state = state
    self.key = key
  }

  /// Whether a response or an error has this request's state, compared in constant time. False where the request has
  /// none.
  public borrowing func isState(_ given: String?) -> Bool {
    guard let state, let given else { return false }
    return constantTimeEqual(Array(state.utf8), Array(given.utf8))
  }

  /// Checks `state`. A response may lack it, which warns: nonce and `response_uri` bind it to the session by the
  /// transcript. In an error nothing is signed, so it must have the state (RFC 6749, 4.1.2.1).
  ///
  /// - Parameter outer: the `state` that came beside a JWE, to say so.
  borrowing func takesState(
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
    let other = found?.string == nil ? "state is no string" : "state is another than the request's"
    checks.require(isOurs, .stateMismatch, found == nil ? missing + "; an error needs the request's" : other)
    if isOurs { checks.passed(.stateMissing) }
    return isOurs
  }

  /// The key's thumbprint in the handover; null without encryption.
  var thumbprint: CBORValue { key.map { .bytes(JSONWebKey.thumbprint(of: $0.publicKey)) } ?? nil }

  /// The transcript that device and reader sign.
  public var transcript: SessionTranscript { recipient.transcript(nonce: nonce, thumbprint: thumbprint) }
}

// MARK: Keeping

extension OpenID4VPChallenge {
  /// Its bytes, to be sealed at rest: the length of the private scalar (0 without a key), the scalar, and JSON of the
  /// rest.
  public borrowing func serialized() throws(CryptoError) -> SecretBytes {
    var members: KeyValuePairs<String, JSON?> {
      switch recipient {
      case .origin(let origin): ["nonce": .string(nonce), "state": state.map(JSON.string), "origin": .string(origin)]
      case .client(let id, let responseURI):
        [
          "nonce": .string(nonce), "state": state.map(JSON.string), "client_id": .string(id),
          "response_uri": .string(responseURI),
        ]
      }
    }
    let rest = JSON.members(members).serialized()
    guard let key else { return SecretBytes(copying: [0] + rest) }
    let scalar = try key.scalar()
    return try SecretBytes(count: 1 + scalar.count + rest.count) { buffer throws(CryptoError) in
      buffer[0] = UInt8(scalar.count)
      scalar.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[1...]).copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: buffer[(1 + scalar.count)...]).copyBytes(from: rest)
    }
  }

  /// Restores what `serialized` gave; nil for anything else.
  public init?(serialized: borrowing SecretBytes) {
    let parts = serialized.withUnsafeBytes { bytes -> (key: PrivateKey?, rest: JSON)? in
      guard let length = bytes.first.map(Int.init), bytes.count > length,
        let rest = try? JSON(parsing: Array(bytes[(1 + length)...]))
      else { return nil }
      guard length > 0 else { return (nil, rest) }
      let scalar = UnsafeRawBufferPointer(rebasing: bytes[1...length])
      guard let key = try? PrivateKey(curve: .p256, scalar: scalar) else { return nil }
      return (key, rest)
    }
    guard let (key, rest) = parts, let nonce = rest["nonce"]?.string,
      let recipient = OpenID4VPRecipient(rest)
    else { return nil }
    self.init(recipient: recipient, nonce: nonce, state: rest["state"]?.string, key: key)
  }
}

extension OpenID4VPRecipient {
  fileprivate init?(_ json: JSON) {
    if let origin = json["origin"]?.string {
      self = .origin(origin)
    } else if let id = json["client_id"]?.string, let responseURI = json["response_uri"]?.string {
      self = .client(id: id, responseURI: responseURI)
    } else {
      return nil
    }
  }
}

/// The recipient of an OpenID4VP answer. The SessionTranscript binds it, together with nonce and key.
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

  /// The address with a slash added at its end, or without the one that it has. It is another address, which wallets
  /// may take for the first.
  static func withOtherEnd(_ address: String) -> String {
    address.hasSuffix("/") ? String(address.dropLast()) : address + "/"
  }

  /// `[null, null, [name, SHA-256(CBOR(info))]]`.
  static func transcript(_ name: String, _ info: [CBORValue]) -> SessionTranscript {
    let hash = HashAlgorithm.sha256.hash(CBORValue.array(info).encoded())
    return SessionTranscript(written: [nil, nil, [.text(name), .bytes(hash)]])
  }
}
