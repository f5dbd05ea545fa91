import Base
import CP11Kit
import Cryptography

/// A private key on a Weierstrass curve in a PKCS #11 token. It signs (CKM_ECDSA) or agrees on secrets
/// (CKM_ECDH1_DERIVE).
///
/// A handle is valid for one life of the module (`TokenModule`). In a new life the key is looked up again, and must be
/// the same.
public final class TokenKey: HeldKey {
  public enum Use: Sendable { case signing, agreement }

  public let publicKey: PublicKey
  /// The token's label.
  public let holder: String
  /// True if the key may leave the token, which defeats the token's purpose.
  public let isExtractable: Bool
  private let uri: TokenURI
  private let module: TokenModule
  private let pin: SharedSecret?
  private let use: Use
  private let found: Locked<Found?>

  /// The key in the current life of its module.
  private struct Found: Sendable {
    let place: TokenModule.Place
    let handle: CK_OBJECT_HANDLE
    let publicKey: PublicKey
    let isExtractable: Bool
  }

  /// Finds the one private key with this name, and proves that it belongs to its public key.
  public init(_ uri: TokenURI, in module: TokenModule, pin: SharedSecret?, for use: Use) throws(TokenError) {
    let first = try module.onItsThread(uri) { () throws(TokenError) in try Self.find(uri, module, pin, use) }
    self.uri = uri
    self.module = module
    self.pin = pin
    self.use = use
    publicKey = first.publicKey
    isExtractable = first.isExtractable
    holder = TokenModule.text(of: first.place.token.label)
    found = Locked(first)
    try module.onItsThread(uri) { [self] () throws(TokenError) in try prove() }
  }

  private static func find(
    _ uri: TokenURI, _ module: TokenModule, _ pin: SharedSecret?, _ use: Use
  ) throws(TokenError) -> Found {
    guard uri.label != nil || uri.id != nil else { throw .refused("\(uri.path) names no key; add object= or id=") }
    return try module.enter(uri, pin: pin) { place, session throws(TokenError) in
      let objects = TokenObjects(module, session)
      let handle = try objects.only(CKO_PRIVATE_KEY, of: uri, hasPIN: pin != nil)
      let fault: String? =
        if objects.number(CKA_KEY_TYPE, of: handle) != CKK_EC {
          "is not a key on an elliptic curve"
        } else if objects.flag(CKA_ALWAYS_AUTHENTICATE, of: handle) {
          "asks for the PIN at every use (CKA_ALWAYS_AUTHENTICATE)"
        } else if !objects.flag(use == .signing ? CKA_SIGN : CKA_DERIVE, of: handle) {
          "may not \(use == .signing ? "sign (CKA_SIGN)" : "derive (CKA_DERIVE)")"
        } else {
          nil
        }
      if let fault { throw .refused("\(uri.path) \(fault)") }
      guard let publicKey = objects.publicKey(of: handle) else {
        throw .refused("\(uri.path) has no public key on a supported curve in the token")
      }
      return Found(
        place: place, handle: handle, publicKey: publicKey,
        isExtractable: objects.flag(CKA_EXTRACTABLE, of: handle))
    }
  }

  /// Checks that the public key belongs to the private key. A token names the two separately, so keys with the same
  /// name can be unrelated.
  private func prove() throws(TokenError) {
    let isGood: Bool
    do throws(CryptoError) {
      switch use {
      case .signing:
        let message = try Random.bytes(32)
        let signature = try PrivateKey(self).signECDSA(message, hash: .sha256)
        isGood = publicKey.verifyECDSA(signature, of: message, hash: .sha256)
      case .agreement:
        let other = try PrivateKey(generatingOn: publicKey.curve)
        let own = try sharedSecret(with: other.publicKey)
        let expected = try other.sharedSecret(with: publicKey)
        isGood = own.withUnsafeBytes { own in expected.withUnsafeBytes { constantTimeEqual(own, $0) } }
      }
    } catch {
      throw .away("\(uri.path): the token cannot use the key")
    }
    guard isGood else { throw .refused("\(uri.path): the token's public key does not belong to its private key") }
  }

  public func signature(ofDigest digest: [UInt8]) throws(CryptoError) -> [UInt8] {
    let length = 2 * publicKey.curve.coordinateLength
    let signature = try using { session, handle throws(TokenModule.Failure) in
      try module.sign(digest, by: CKM_ECDSA, with: handle, in: session, longest: length)
    }
    guard signature.count == length else { throw .keyUnavailable }
    return signature
  }

  public func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
    let derived = try using { session, handle throws(TokenModule.Failure) in
      SharedSecret(try module.agree(with: peer, by: handle, in: session))
    }
    return derived.bytes.withUnsafeBytes { SecretBytes(copying: $0) }
  }

  public func check() throws(CryptoError) {
    _ = try using { session, _ throws(TokenModule.Failure) in
      var info = CK_SESSION_INFO()
      try module.call { $0.C_GetSessionInfo?(session, &info) }
      let isLoggedIn = info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS
      guard isLoggedIn || pin == nil else { throw TokenModule.Failure(status: CKR_USER_NOT_LOGGED_IN) }
      return true
    }
  }

  public func run(_ work: @escaping @Sendable () -> Void) async -> Bool { await module.threads.run(work) }

  /// Uses the key. If its module's life has ended, looks it up in the next life and retries once.
  private func using<R>(
    _ body: (CK_SESSION_HANDLE, CK_OBJECT_HANDLE) throws(TokenModule.Failure) -> R
  ) throws(CryptoError) -> R {
    for _ in 0..<2 {
      let current = try self.current()
      do {
        let result = try module.use(current.place) { session throws(TokenModule.Failure) in
          try body(session, current.handle)
        }
        if let result { return result }
      } catch { throw .keyUnavailable }
      found.withLock { $0 = nil }
    }
    throw .keyUnavailable
  }

  private func current() throws(CryptoError) -> Found {
    if let current = found.withLock({ $0 }) { return current }
    guard let again = try? Self.find(uri, module, pin, use), again.publicKey == publicKey else { throw .keyUnavailable }
    found.withLock { $0 = again }
    return again
  }
}

/// A secret of 32 bytes for keys that encrypt at rest. A token derives it from its secret key, once at the start.
///
/// The token's key never leaves the token. The derived secret does, and stays in memory, so that no session waits for
/// the token.
public enum TokenSecret {
  public static let length = 32
  private static let label = Array("mdoc key".utf8)

  /// The key derivation function in counter mode (NIST SP 800-108r1, 4.1): HMAC-SHA-256 with a generic secret, or CMAC
  /// with an AES key.
  public static func derive(
    by uri: TokenURI, in module: TokenModule, pin: SharedSecret?
  ) throws(TokenError) -> SharedSecret {
    guard uri.label != nil || uri.id != nil else { throw .refused("\(uri.path) names no key; add object= or id=") }
    return try module.onItsThread(uri) { () throws(TokenError) in
      try module.enter(uri, pin: pin) { _, session throws(TokenError) in
        let objects = TokenObjects(module, session)
        let handle = try objects.only(CKO_SECRET_KEY, of: uri, hasPIN: pin != nil)
        let isAES = objects.number(CKA_KEY_TYPE, of: handle) == CKK_AES
        guard objects.flag(CKA_SIGN, of: handle) else {
          throw .refused("\(uri.path) must have CKA_SIGN, which derivation needs; make the key with mdoc keys generate")
        }
        return try module.reporting(uri) { () throws(TokenModule.Failure) in
          var bytes: [UInt8] = []
          var block: UInt8 = 0
          while bytes.count < length {
            block += 1
            let input = [0, 0, 0, block] + label + [0] + [0, 0, 1, 0]
            bytes += try module.sign(
              input, by: isAES ? CKM_AES_CMAC : CKM_SHA256_HMAC, with: handle, in: session, longest: length)
          }
          guard bytes.count == length else { throw TokenModule.Failure(status: CKR_FUNCTION_FAILED) }
          return SharedSecret(SecretBytes(copying: bytes))
        }
      }
    }
  }
}

extension TokenModule {
  /// C_Sign in one part.
  fileprivate func sign(
    _ input: [UInt8], by mechanism: CK_MECHANISM_TYPE, with key: CK_OBJECT_HANDLE, in session: CK_SESSION_HANDLE,
    longest: Int
  ) throws(Failure) -> [UInt8] {
    var mechanism = CK_MECHANISM(mechanism: mechanism, pParameter: nil, ulParameterLen: 0)
    try call { $0.C_SignInit?(session, &mechanism, key) }
    var (input, output, length) = (input, [UInt8](repeating: 0, count: longest), CK_ULONG(longest))
    try call { $0.C_Sign?(session, &input, CK_ULONG(input.count), &output, &length) }
    return Array(output.prefix(Int(length)))
  }

  /// ECDH without a key derivation function. The secret is read from the token, and its object is destroyed.
  fileprivate func agree(
    with peer: PublicKey, by key: CK_OBJECT_HANDLE, in session: CK_SESSION_HANDLE
  ) throws(Failure) -> SecretBytes {
    let length = peer.curve.coordinateLength
    let template = Template([
      (CKA_CLASS, .number(CKO_SECRET_KEY)), (CKA_KEY_TYPE, .number(CKK_GENERIC_SECRET)),
      (CKA_VALUE_LEN, .number(CK_ULONG(length))), (CKA_TOKEN, .flag(false)), (CKA_SENSITIVE, .flag(false)),
      (CKA_EXTRACTABLE, .flag(true)),
    ])
    var secret: CK_OBJECT_HANDLE = 0
    var point = peer.encoded
    try point.withUnsafeMutableBufferPointer { point throws(Failure) in
      var parameters = CK_ECDH1_DERIVE_PARAMS()
      parameters.kdf = CKD_NULL
      parameters.pPublicData = point.baseAddress
      parameters.ulPublicDataLen = CK_ULONG(point.count)
      try withUnsafeMutablePointer(to: &parameters) { parameters throws(Failure) in
        var mechanism = CK_MECHANISM(
          mechanism: CKM_ECDH1_DERIVE, pParameter: parameters,
          ulParameterLen: CK_ULONG(MemoryLayout<CK_ECDH1_DERIVE_PARAMS>.size))
        try template.use { attributes, count throws(Failure) in
          try call { $0.C_DeriveKey?(session, &mechanism, key, attributes, count, &secret) }
        }
      }
    }
    defer { try? call { $0.C_DestroyObject?(session, secret) } }
    do throws(CryptoError) {
      return try SecretBytes(count: length) { buffer throws(CryptoError) in
        var value = CK_ATTRIBUTE(type: CKA_VALUE, pValue: buffer.baseAddress, ulValueLen: CK_ULONG(length))
        guard (try? call { $0.C_GetAttributeValue?(session, secret, &value, 1) }) != nil,
          value.ulValueLen == CK_ULONG(length)
        else { throw .keyUnavailable }
      }
    } catch {
      throw Failure(status: CKR_FUNCTION_FAILED)
    }
  }
}
