import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Wrong issuer authentication: signature, algorithm, headers (ISO/IEC 18013-5, 9.1.2.4).
  @MockVariantList static var issuerAuth: [MockVariant] {
    signed("issuer-signature-bit-flipped", "A bit of the signature is turned over.") {
      $0.signature = $0.signature.flipped
    }
    signed("issuer-signature-zero", "r and s are zero.") { $0.signature = .zeros($0.signature.count) }
    signed("issuer-signature-s-zero", "s is zero.") {
      $0.signature = $0.signature.prefix($0.signature.count / 2) + .zeros($0.signature.count / 2)
    }
    MockVariant(
      "issuer-signature-s-order", "s is the order of the group.", cases: "I01", codes: [.issuerSignatureInvalid],
      .init(
        setup: { try $0.useSigner(on: .p256) },
        issuerAuthParts: { $0.signature = $0.signature.prefix(32) + p256Order }))
    signed("issuer-signature-short", "The signature lacks its last byte.") { $0.signature = $0.signature.dropLast() }
    signed("issuer-signature-long", "A zero byte follows the signature.") { $0.signature += [0] }
    signed("issuer-signature-empty", "The signature is empty.", cases: "I01 I02") { $0.signature = [] }
    signed("issuer-signature-der", "The signature is DER instead of r‖s.") {
      $0.signature = ecdsaSignatureDER($0.signature)
    }
    MockVariant(
      "issuer-signature-re-encoded", "The MSO was encoded anew, with the same values, after it was signed.",
      cases: "I10", codes: [.issuerSignatureInvalid],
      .issuerAuth { $0.presentedPayload = .bytes(EncodingStyle.longForm.embed($0.content.value).encoded()) })
    MockVariant(
      "issuer-auth-stolen", "Another person's signed elements, with the attacker's own device key in the MSO.",
      cases: "K16", codes: [.issuerSignatureInvalid],
      .init(
        issuerAuth: { draft in
          var mso = draft.content
          let attacker = try MockSeed(Array("attacker".utf8)).key("device", on: .p256).publicKey
          mso.nested("deviceKeyInfo") { $0["deviceKey"] = COSEKey.fields(of: attacker).value }
          draft.presentedPayload = .bytes(CBORValue.embedded(mso.value).encoded())
        },
        deviceAuth: { draft in
          draft.key = try MockSeed(Array("attacker".utf8)).key("device", on: .p256)
          draft.signOnly()
        }))
    MockVariant(
      "issuer-auth-missing", "There is no issuerAuth.", cases: "I02", codes: [.issuerAuthMissing],
      .document { $0.nested("issuerSigned") { $0["issuerAuth"] = nil } })
    MockVariant(
      "issuer-auth-tagged", "IssuerAuth is tagged as COSE_Sign1.", codes: [.issuerAuthMalformed],
      .document { $0.nested("issuerSigned") { $0["issuerAuth"] = .tagged(18, $0["issuerAuth"] ?? .null) } })
    MockVariant(
      "issuer-auth-three-parts", "IssuerAuth lacks its signature.", codes: [.issuerAuthMalformed],
      .issuerAuthParts { $0.removeLast() })
    header("issuer-algorithm-absent", "No header names the algorithm.", "I03", .issuerAlgorithmUnsupported) {
      $0.protected[1] = nil
    }
    header("issuer-algorithm-none", "The algorithm is `none`.", "I03", .issuerAlgorithmUnsupported) {
      $0.protected[1] = "none"
    }
    header("issuer-algorithm-rsa", "The algorithm is RS256.", "I03", .issuerAlgorithmUnsupported) {
      $0.protected[1] = -257
    }
    header("issuer-algorithm-unknown", "The algorithm is not registered.", "I03", .issuerAlgorithmUnsupported) {
      $0.protected[1] = -7777
    }
    header(
      "issuer-algorithm-unprotected", "Only the unprotected header names the algorithm.", "I03",
      .issuerAlgorithmUnsupported
    ) {
      $0.unprotected[1] = $0.protected[1]
      $0.protected[1] = nil
    }
    mismatch("issuer-es384-p256", "ES384, SHA-384, with a P-256 key.", on: .p256, COSEAlgorithm.es384, .sha384)
    mismatch("issuer-es256-p384", "ES256, SHA-256, with a P-384 key.", on: .p384, COSEAlgorithm.es256, .sha256)
    header("issuer-algorithm-twice", "The headers name two algorithms.", "I05", .coseHeaderDuplicate) {
      $0.unprotected[1] = .integer(COSEAlgorithm.es512)
    }
    header("issuer-crit-unknown", "An unknown header parameter is critical.", "I06", .coseCritUnsupported) {
      $0.protected[2] = [-70_001]
      $0.protected[-70_001] = true
    }
    header("issuer-crit-text", "A header parameter with a text label is critical.", "I06", .coseCritUnsupported) {
      $0.protected[2] = ["org.example.critical"]
      $0.protected["org.example.critical"] = true
    }
    MockVariant(
      "issuer-certificate-missing", "There is no x5chain, and a real signature.", cases: "I07",
      codes: [.issuerCertificateMissing], applicability: .notAppleInApp, .issuerAuth { $0.unprotected[33] = nil })
    header("issuer-certificate-empty", "The x5chain is an empty array.", "I07", .issuerCertificateMissing) {
      $0.unprotected[33] = []
    }
    header("issuer-certificate-twice", "Both headers have an x5chain.", "I07", .coseHeaderDuplicate) {
      $0.protected[33] = $0.unprotected[33]
    }
    header(
      "issuer-certificate-thumbprint", "The certificate's thumbprint is another's.", "",
      .issuerCertificateThumbprintMismatch
    ) { $0.unprotected[34] = [-16, .bytes(HashAlgorithm.sha256.hash([0]))] }
    header("mso-detached", "The payload is null.", "I08", .msoMissing) { $0.presentedPayload = .null }
  }

  private static let p256Order =
    Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []

  private static func signed(
    _ name: String, _ summary: String, cases: String = "I01", _ change: @escaping MockChange<[CBORValue]>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [.issuerSignatureInvalid], .issuerAuthParts(change))
  }

  private static func header(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<COSESign1Draft>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [code], .issuerAuth(change))
  }

  /// The named algorithm is the one that signs. So a library accepts the signature unless it binds the algorithm to the
  /// curve.
  private static func mismatch(
    _ name: String, _ summary: String, on curve: Curve, _ algorithm: Int64, _ hash: HashAlgorithm
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "I04", codes: [.issuerAlgorithmKeyMismatch],
      .init(
        setup: { try $0.useSigner(on: curve) },
        issuerAuth: {
          $0.protected[1] = .integer(algorithm)
          $0.hash = hash
        }))
  }
}
