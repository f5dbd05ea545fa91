import Base
import CP11Kit
import Cryptography

/// A key in a list of a token's keys.
public struct TokenEntry: Sendable {
  public enum Kind: String, Sendable { case privateKey = "private", secret }

  public let kind: Kind
  /// The key's name (RFC 7512), without a query.
  public let uri: String
  /// The curve's name, or the type and length of a secret key.
  public let type: String
  /// `sign`, `derive`, in this order.
  public let uses: [String]
  /// True if the key may leave the token.
  public let isExtractable: Bool
  /// Nil for a secret key, and if the token does not contain the public key.
  public let publicKey: PublicKey?
}

/// The kind of a key to generate in a token.
public enum TokenKeyKind: Sendable {
  case signing(Curve)
  /// A key on P-256 to which responses are encrypted. It also signs the request for its certificate.
  case agreement
  /// 32 bytes. Keys for data at rest are derived from them.
  case secret
}

extension TokenModule {
  /// The private and secret keys of a token that match the name. A token may hide keys without its PIN.
  public func list(_ uri: TokenURI, pin: SharedSecret?) throws(TokenError) -> [TokenEntry] {
    try onItsThread(uri) { [self] () throws(TokenError) in
      try enter(uri, pin: pin) { place, session throws(TokenError) in
        let objects = TokenObjects(self, session)
        return try reporting(uri) { () throws(Failure) in
          let pairs = try objects.find(CKO_PRIVATE_KEY, label: uri.label, id: uri.id)
          let secrets = try objects.find(CKO_SECRET_KEY, label: uri.label, id: uri.id)
          return pairs.map { objects.entry($0, .privateKey, of: place.token) }
            + secrets.map { objects.entry($0, .secret, of: place.token) }
        }
      }
    }
  }

  /// Generates a key that cannot leave the token, and describes it. The name must have the new key's `object`. Without
  /// an `id`, the key gets a random `id`.
  public func make(_ kind: TokenKeyKind, _ uri: TokenURI, pin: SharedSecret?) throws(TokenError) -> TokenEntry {
    guard let label = uri.label else { throw .refused("\(uri.path) must name the new key: add object=") }
    guard let id = uri.id ?? (try? Random.bytes(8)) else { throw .refused("the cryptographic library failed") }
    return try onItsThread(uri) { [self] () throws(TokenError) in
      try enter(uri, pin: pin, mayWrite: true) { place, session throws(TokenError) in
        let objects = TokenObjects(self, session)
        let made = try reporting(uri) { () throws(Failure) -> (CK_OBJECT_HANDLE, TokenEntry.Kind)? in
          for kind in [CKO_PRIVATE_KEY, CKO_SECRET_KEY] {
            let named = try objects.find(kind, label: label, id: nil) + objects.find(kind, label: nil, id: id)
            guard named.isEmpty else { return nil }
          }
          return switch kind {
          case .secret: (try makeSecret(label, id, session), .secret)
          case .signing(let curve): (try makePair(curve, [CKA_SIGN], label, id, session), .privateKey)
          case .agreement: (try makePair(.p256, [CKA_SIGN, CKA_DERIVE], label, id, session), .privateKey)
          }
        }
        guard let made else { throw .refused("\(uri.path) names a key that exists; choose another object and id") }
        return objects.entry(made.0, made.1, of: place.token)
      }
    }
  }

  private static func names(_ label: [UInt8], _ id: [UInt8]) -> [(CK_ATTRIBUTE_TYPE, Template.Value)] {
    [(CKA_TOKEN, .flag(true)), (CKA_LABEL, .bytes(label)), (CKA_ID, .bytes(id))]
  }

  /// The key never leaves the token, and permits only these uses.
  private static func guarded(_ uses: [CK_ATTRIBUTE_TYPE]) -> [(CK_ATTRIBUTE_TYPE, Template.Value)] {
    [(CKA_PRIVATE, .flag(true)), (CKA_SENSITIVE, .flag(true)), (CKA_EXTRACTABLE, .flag(false))]
      + [CKA_SIGN, CKA_DERIVE, CKA_DECRYPT, CKA_UNWRAP].map { ($0, .flag(uses.contains($0))) }
  }

  private func makePair(
    _ curve: Curve, _ uses: [CK_ATTRIBUTE_TYPE], _ label: [UInt8], _ id: [UInt8], _ session: CK_SESSION_HANDLE
  ) throws(Failure) -> CK_OBJECT_HANDLE {
    let beside = Template(
      Self.names(label, id) + [
        (CKA_EC_PARAMS, .bytes(curve.parameters)), (CKA_PRIVATE, .flag(false)), (CKA_VERIFY, .flag(true)),
      ])
    let own = Template(Self.names(label, id) + Self.guarded(uses))
    var mechanism = CK_MECHANISM(mechanism: CKM_EC_KEY_PAIR_GEN, pParameter: nil, ulParameterLen: 0)
    var (publicKey, privateKey): (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) = (0, 0)
    try beside.use { beside, besideCount throws(Failure) in
      try own.use { own, ownCount throws(Failure) in
        try call {
          $0.C_GenerateKeyPair?(session, &mechanism, beside, besideCount, own, ownCount, &publicKey, &privateKey)
        }
      }
    }
    return privateKey
  }

  private func makeSecret(
    _ label: [UInt8], _ id: [UInt8], _ session: CK_SESSION_HANDLE
  ) throws(Failure) -> CK_OBJECT_HANDLE {
    let template = Template(
      Self.names(label, id) + Self.guarded([CKA_SIGN]) + [
        (CKA_CLASS, .number(CKO_SECRET_KEY)), (CKA_KEY_TYPE, .number(CKK_GENERIC_SECRET)),
        (CKA_VALUE_LEN, .number(CK_ULONG(TokenSecret.length))), (CKA_ENCRYPT, .flag(false)),
      ])
    var mechanism = CK_MECHANISM(mechanism: CKM_GENERIC_SECRET_KEY_GEN, pParameter: nil, ulParameterLen: 0)
    var key: CK_OBJECT_HANDLE = 0
    try template.use { attributes, count throws(Failure) in
      try call { $0.C_GenerateKey?(session, &mechanism, attributes, count, &key) }
    }
    return key
  }
}

extension TokenObjects {
  fileprivate func entry(_ key: CK_OBJECT_HANDLE, _ kind: TokenEntry.Kind, of token: CK_TOKEN_INFO) -> TokenEntry {
    let uses = [("sign", CKA_SIGN), ("derive", CKA_DERIVE)].filter { flag($0.1, of: key) }.map(\.0)
    return TokenEntry(
      kind: kind,
      uri: TokenURI.path(of: token, label: bytes(CKA_LABEL, of: key) ?? [], id: bytes(CKA_ID, of: key) ?? []) ?? "",
      type: kind == .privateKey ? curve(of: key)?.rawValue ?? "another type" : secretType(of: key), uses: uses,
      isExtractable: flag(CKA_EXTRACTABLE, of: key), publicKey: kind == .privateKey ? publicKey(of: key) : nil)
  }

  private func secretType(of key: CK_OBJECT_HANDLE) -> String {
    let name =
      switch number(CKA_KEY_TYPE, of: key) {
      case CKK_AES: "AES"
      case CKK_GENERIC_SECRET: "generic"
      default: "another type"
      }
    return number(CKA_VALUE_LEN, of: key).map { "\(name), \($0) bytes" } ?? name
  }
}
