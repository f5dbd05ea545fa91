import Base
import Cryptography

/// ECDSA in the two forms that mdoc has, r‖s in COSE (IEEE P1363) and DER in certificates, and EdDSA.
enum WycheproofSignatures {
  static let kinds = [
    WycheproofSet.Kind(
      schema: "ecdsa_p1363_verify_schema_v1.json", reference: "FIPS 186-5, 6.4.2", bugClass: .forgery,
      judge: { group, _ in
        ecdsa(group) { key, hash, signature, message in key.verifyECDSA(signature, of: message, hash: hash) }
      }),
    WycheproofSet.Kind(
      schema: "ecdsa_verify_schema_v1.json", reference: "FIPS 186-5, 6.4.2; RFC 3279, 2.2.3", bugClass: .forgery,
      judge: { group, _ in
        ecdsa(group) { key, hash, signature, message in
          guard !key.verifyECDSA(signature, of: message, hash: hash) else { return nil }
          return signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBytes { key.verifyECDSA(der: signature, of: $0, hash: hash) }
          }
        }
      }),
    WycheproofSet.Kind(
      schema: "eddsa_verify_schema_v1.json", reference: "RFC 8032, 5", bugClass: .forgery,
      judge: { group, _ in
        let key = key(of: group, "pk")
        return { test in
          guard let key else { return .other("its key is refused") }
          return .init(isAccepted: key.verifyEdDSA(test.hex("sig"), of: test.hex("msg")))
        }
      }),
  ]

  /// - Parameter verify: nil where the signature counts in the other form too.
  private static func ecdsa(
    _ group: JSON, verify: @escaping (PublicKey, HashAlgorithm, _ signature: [UInt8], _ message: [UInt8]) -> Bool?
  ) -> (JSON) -> PublishedCase.Finding {
    let key = key(of: group, "uncompressed")
    let hash = HashAlgorithm(published: group["sha"]?.string)
    return { test in
      guard let key else { return .other("its key is refused") }
      guard let hash else { return .skipped("its hash is not used by mdoc") }
      guard let isValid = verify(key, hash, test.hex("sig"), test.hex("msg")) else {
        return .other("DER is taken for r‖s")
      }
      return .init(isAccepted: isValid)
    }
  }

  private static func key(of group: JSON, _ member: String) -> PublicKey? {
    guard let json = group["publicKey"], let curve = json["curve"]?.string.flatMap(CurveParameters.curve(named:))
    else { return nil }
    return try? PublicKey(curve: curve, encoded: json.hex(member))
  }
}

extension HashAlgorithm {
  /// `SHA-256`, and as a part of other names.
  init?(published name: String?) {
    let found = [HashAlgorithm.sha256, .sha384, .sha512].first { hash in
      name?.hasSuffix("\(hash.digestLength * 8)") ?? false
    }
    guard let found else { return nil }
    self = found
  }
}
