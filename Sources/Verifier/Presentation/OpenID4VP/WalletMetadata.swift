import Base
import Cryptography
import JOSE

extension Limits {
  /// The maximum bytes of a `wallet_metadata` and the maximum number of its keys. Anyone may send metadata.
  package static let walletMetadataBytes = 16 << 10
  package static let walletKeys = 8
}

/// A wallet's description of itself. A wallet that fetches its request by POST sends it as `wallet_metadata` (OpenID4VP
/// 1.0, 5.10 and 10; RFC 8414, 2; OpenID Connect Discovery 1.0, 3). It is unverified, and affects only how the request
/// is sent.
///
/// Null means absent. Unknown members are ignored.
public struct WalletMetadata: Sendable {
  fileprivate let json: JSON

  /// - Throws: `api.invalid_request` for anything but a JSON object of at most `Limits.walletMetadataBytes`.
  public init(parsing text: String) throws(WalletMetadataError) {
    guard text.utf8.count <= Limits.walletMetadataBytes else {
      throw .malformed("", "must have at most \(Limits.walletMetadataBytes) bytes")
    }
    guard let json = try? JSON(parsing: Array(text.utf8)), json.object != nil else {
      throw .malformed("", "must be a JSON object")
    }
    self.json = json
  }

  /// The encryption of the request; nil if the wallet sends no encryption key.
  fileprivate func requestEncryption() throws(WalletMetadataError) -> RequestEncryption? {
    guard let jwks = json.present("jwks") else { return nil }
    guard let keys = jwks["keys"]?.array, keys.count <= Limits.walletKeys else {
      throw .malformed("/jwks", "must have at most \(Limits.walletKeys) `keys`")
    }
    _ = try json.shared(
      "request_object_encryption_alg_values_supported", with: [.string(JWEHeader.algorithmName)])
    let encryptions = JWEHeader.ContentEncryption.allCases
    let chosen = try json.shared(
      "request_object_encryption_enc_values_supported", with: encryptions.map { .string($0.rawValue) })
    for key in keys where key["use"] != "sig" {
      guard let jwk = try? JSONWebKey(parsing: key), let agreed = jwk.agreementKey,
        RequestEncryption.curves.contains(agreed.curve)
      else { continue }
      // The default of OpenID4VP for responses (8.3).
      let encryption = encryptions.first { .string($0.rawValue) == chosen } ?? .a128GCM
      return RequestEncryption(key: agreed, keyID: jwk.keyID, encryption: encryption)
    }
    guard keys.allSatisfy({ $0["use"] == "sig" }) else {
      throw .unsupported("/jwks/keys", "must have a public key for ECDH-ES on P-256, P-384 or P-521")
    }
    return nil
  }
}

/// The key of a wallet that requires encrypted requests, used once.
public struct RequestEncryption: Sendable {
  let key: PublicKey
  let keyID: String?
  let encryption: JWEHeader.ContentEncryption

  /// The curves for JOSE's ECDH-ES that every platform supports. Other curves are slower.
  fileprivate static let curves: [Curve] = [.p256, .p384, .p521]

  /// The nested JWT: the signed request object as the plaintext of a compact JWE (RFC 9101, 6.1; RFC 7519, 5.2).
  public func encrypt(_ requestObject: String) throws(CryptoError) -> String {
    let parameters = JSON.members([
      "typ": "oauth-authz-req+jwt", "cty": "JWT", "kid": keyID.map { .string($0) },
    ])
    return try CompactJWE.encrypt(
      Array(requestObject.utf8), to: key, by: encryption, parameters: parameters.object ?? [])
  }
}

extension OpenID4VPRequest {
  /// Checks that the wallet supports this request.
  /// - Returns: the encryption for the request object; nil if the wallet accepts it unencrypted.
  /// - Throws: `api.wallet_unsupported` if a list lacks a value that the request needs, `api.invalid_request` if a
  ///   member is not a list.
  public func encryption(
    for wallet: WalletMetadata, signedBy reader: ReaderIdentity
  ) throws(WalletMetadataError) -> RequestEncryption? {
    let request = JSON.object(parameters)
    let client = request["client_metadata"] ?? .null
    let prefix = reader.clientID.prefix { $0 != ":" }
    let algorithm = SignatureAlgorithm.preferredInJOSE(for: reader.key.curve)?.name ?? ""
    let offered: KeyValuePairs<String, [JSON]?> = [
      "client_id_prefixes_supported": [.string(String(prefix))],
      "response_types_supported": request["response_type"].map { [$0] },
      "response_modes_supported": request["response_mode"].map { [$0] },
      "request_object_signing_alg_values_supported": [.string(algorithm)],
      "authorization_encryption_alg_values_supported": client["jwks"]?["keys"]?.array?.compactMap { $0["alg"] },
      "authorization_encryption_enc_values_supported": client["encrypted_response_enc_values_supported"]?.array,
    ]
    for (name, ours) in offered { if let ours { _ = try wallet.json.shared(name, with: ours) } }
    if let formats = wallet.json.present("vp_formats_supported") {
      let pointer = "/vp_formats_supported"
      guard formats.object != nil else { throw .malformed(pointer, "must be an object") }
      guard let mdoc = formats.present("mso_mdoc"), mdoc.object != nil else {
        throw .unsupported(pointer, "must have `mso_mdoc`")
      }
      for (name, ours) in client["vp_formats_supported"]?["mso_mdoc"]?.object?.map({ ($0.name, $0.value) }) ?? [] {
        _ = try mdoc.shared(name, with: ours.array ?? [], at: pointer + "/mso_mdoc")
      }
    }
    return try wallet.requestEncryption()
  }
}

extension JSON {
  /// The member; nil if it is absent or null.
  fileprivate func present(_ name: String) -> JSON? { self[name].flatMap { $0.isNull ? nil : $0 } }

  /// The first element of the wallet's list that the verifier supports; nil if the wallet has no list.
  fileprivate func shared(
    _ name: String, with ours: [JSON], at pointer: String = ""
  ) throws(WalletMetadataError) -> JSON? {
    guard let value = present(name) else { return nil }
    guard let list = value.array, !list.isEmpty else {
      throw .malformed(pointer + "/" + name, "must be a non-empty array")
    }
    guard let first = list.first(where: ours.contains) else {
      throw .unsupported(pointer + "/" + name, "must have one of \(JSON.array(ours).text())")
    }
    return first
  }
}

/// The reason why a wallet gets no request.
public struct WalletMetadataError: Error, Sendable, Hashable {
  /// `api.invalid_request` or `api.wallet_unsupported`.
  public let code: Code
  /// A JSON pointer into the metadata.
  public let pointer: String
  public let detail: String

  static func malformed(_ pointer: String, _ detail: String) -> Self {
    Self(code: .apiInvalidRequest, pointer: pointer, detail: detail)
  }

  static func unsupported(_ pointer: String, _ detail: String) -> Self {
    Self(code: .apiWalletUnsupported, pointer: pointer, detail: detail)
  }
}

extension Code {
  public static let apiInvalidRequest = Code(
    "api.invalid_request", "A member of the request has a wrong type or value", "HTTP API",
    "Correct the members listed in `errors`.", status: 400, cases: "A17")
  public static let apiWalletUnsupported = Code(
    "api.wallet_unsupported", "The wallet's metadata does not allow this request", "\(openID), 5.10",
    "Compare `errors` with the reader's `client_id` and the relying party's `openid4vp`.", status: 400)
}
