import Base

/// A signature algorithm of COSE and JOSE: one of ISO/IEC 18013-5 (Table B.3 and 9.1.2.4), or its fully specified form
/// (RFC 9864).
///
/// Each algorithm is bound to its curves: ES256 with a P-384 key is refused without checking the signature. `none` and
/// HMAC are not supported: a public key must never serve as a shared secret (RFC 8725, 2.1 and 3.1).
package struct SignatureAlgorithm: Sendable, Hashable {
  /// The algorithm's name in the COSE and JOSE registries.
  package let name: String
  /// The identifier in COSE's registry.
  package let coseIdentifier: Int64
  /// The hash; nil for EdDSA, which includes its own.
  package let hash: HashAlgorithm?
  /// The curves for COSE signatures.
  package let coseCurves: [Curve]
  /// The curves for JOSE signatures; empty if JOSE lacks the algorithm.
  package let joseCurves: [Curve]

  /// In COSE, ISO/IEC 18013-5 also uses ES256, ES384 and ES512 with brainpool curves. JOSE binds each to one curve (RFC
  /// 7518, 3.4). The ESB algorithms are registered for COSE. ISO/IEC TS 18013-7 uses their names in JOSE too.
  package static let all: [SignatureAlgorithm] = [
    .init("ES256", -7, .sha256, cose: [.p256, .brainpoolP256r1], jose: [.p256]),
    .init("ES384", -35, .sha384, cose: [.p384, .brainpoolP320r1, .brainpoolP384r1], jose: [.p384]),
    .init("ES512", -36, .sha512, cose: [.p521, .brainpoolP512r1], jose: [.p521]),
    .init("EdDSA", -8, nil, cose: [.ed25519, .ed448], jose: [.ed25519, .ed448]),
    .init("ESP256", -9, .sha256, cose: [.p256], jose: []),
    .init("ESP384", -51, .sha384, cose: [.p384], jose: []),
    .init("ESP512", -52, .sha512, cose: [.p521], jose: []),
    .init("Ed25519", -19, nil, cose: [.ed25519], jose: [.ed25519]),
    .init("Ed448", -53, nil, cose: [.ed448], jose: [.ed448]),
    .init("ESB256", -265, .sha256, cose: [.brainpoolP256r1], jose: [.brainpoolP256r1]),
    .init("ESB320", -266, .sha384, cose: [.brainpoolP320r1], jose: [.brainpoolP320r1]),
    .init("ESB384", -267, .sha384, cose: [.brainpoolP384r1], jose: [.brainpoolP384r1]),
    .init("ESB512", -268, .sha512, cose: [.brainpoolP512r1], jose: [.brainpoolP512r1]),
  ]

  /// The algorithms of JOSE.
  package static let jose = all.filter { !$0.joseCurves.isEmpty }

  private init(_ name: String, _ coseIdentifier: Int64, _ hash: HashAlgorithm?, cose: [Curve], jose: [Curve]) {
    self.name = name
    self.coseIdentifier = coseIdentifier
    self.hash = hash
    coseCurves = cose
    joseCurves = jose
  }

  package init?(coseIdentifier: Int64) {
    guard let algorithm = Self.all.first(where: { $0.coseIdentifier == coseIdentifier }) else { return nil }
    self = algorithm
  }

  /// The JOSE algorithm with exactly this name (RFC 7515, 5.3).
  package init?(joseName: String) {
    guard let algorithm = Self.jose.first(where: { $0.name.hasSameBytes(as: joseName) }) else { return nil }
    self = algorithm
  }

  /// The algorithm to sign with. The table begins with the algorithms that every reader of ISO/IEC 18013-5:2021 knows.
  package static func preferredInCOSE(for curve: Curve) -> SignatureAlgorithm? {
    all.first { $0.coseCurves.contains(curve) }
  }

  /// The algorithm to sign with; nil for a curve without JOSE signatures.
  package static func preferredInJOSE(for curve: Curve) -> SignatureAlgorithm? {
    jose.first { $0.joseCurves.contains(curve) }
  }

  /// True if the signature, in the fixed-length form of COSE and JOSE, verifies. The caller must have checked the
  /// curve.
  package func verify(_ signature: some Collection<UInt8>, of message: [UInt8], key: PublicKey) -> Bool {
    if let hash { return key.verifyECDSA(signature, of: message, hash: hash) }
    return key.verifyEdDSA(signature, of: message)
  }

  package func sign(_ message: [UInt8], key: PrivateKey) throws(CryptoError) -> [UInt8] {
    if let hash { return try key.signECDSA(message, hash: hash) }
    return try key.signEdDSA(message)
  }
}
