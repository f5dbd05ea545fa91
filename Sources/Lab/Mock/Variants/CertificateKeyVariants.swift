import Base
import Cryptography

extension MockVariant {
  /// Certificates with keys and signatures that the standard does not have (ISO/IEC 18013-5, B.1).
  @MockVariantList static var certificateKeys: [MockVariant] {
    key("signer-key-rsa", "The certificate's key is RSA.") { _ in
      // Any odd number of 2048 bits will do: nothing is verified with it.
      SubjectPublicKeyInfo.rsa(modulus: [0xc3] + (0..<254).map { UInt8(truncatingIfNeeded: $0 * 73 + 41) } + [0x0d])
    }
    key("signer-key-p192", "The certificate's key is on P-192.") { _ in
      SubjectPublicKeyInfo.ec(
        parameters: DER.objectIdentifier("1.2.840.10045.3.1.1"),
        point: bytes(
          "04188da80eb03090f67cbf20eb43a18800f4ff0afd82ff101207192b95ffc8da78631011ed6b24cdd573f977a11e794811"))
    }
    MockVariant(
      "signer-key-explicit-parameters", "The certificate's P-256 key spells its curve's parameters out.", cases: "T19",
      codes: [.certificateAlgorithmUnsupported],
      .setup {
        try $0.useSigner(on: .p256)
        $0.signer.certificate.publicKeyInfo = SubjectPublicKeyInfo.ec(
          parameters: p256Parameters, point: $0.signer.key.publicKey.encoded)
      })
    MockVariant(
      "signer-signature-sha-1", "The certificate is signed with ecdsa-with-SHA1.", cases: "T19",
      codes: [.certificateAlgorithmUnsupported],
      .setup {
        // EdDSA authorities have no such signature; their certificates only name it.
        $0.signer.certificate.signatureAlgorithm = .ecdsaWithSHA1
        if $0.signer.issuerKey.curve.family != .weierstrass {
          $0.signer.certificate.signatureAlgorithm?.hash = nil
        }
      })
  }

  private static func key(
    _ name: String, _ summary: String, _ info: @escaping @Sendable (AnswerSetup) -> [UInt8]
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "T19", codes: [.certificateAlgorithmUnsupported],
      .setup { $0.signer.certificate.publicKeyInfo = info($0) })
  }

  private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  /// ECParameters with everything in it (SEC 1, C.2).
  private static var p256Parameters: [UInt8] {
    let prime = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    let a = bytes("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")
    let b = bytes("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")
    let generator = bytes(
      "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    return DER.sequence(
      DER.integer([1]),
      DER.sequence(DER.objectIdentifier("1.2.840.10045.1.1"), DER.unsignedInteger(prime)),
      DER.sequence(DER.octetString(a), DER.octetString(b)),
      DER.octetString(generator),
      DER.unsignedInteger(order),
      DER.integer([1]))
  }
}
