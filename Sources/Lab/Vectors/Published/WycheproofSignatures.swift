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

/// AES-GCM, HKDF and HMAC. Sizes that mdoc does not use are skipped, and must be refused all the same.
enum WycheproofSymmetric {
  static let kinds = [
    WycheproofSet.Kind(
      schema: "aead_test_schema_v1.json", reference: "NIST SP 800-38D", bugClass: .forgery,
      judge: { group, _ in aead(group) }),
    WycheproofSet.Kind(
      schema: "hkdf_test_schema_v1.json", reference: "RFC 5869", bugClass: .disclosure,
      judge: { _, algorithm in { hkdf($0, HashAlgorithm(published: algorithm)) } }),
    WycheproofSet.Kind(
      schema: "mac_test_schema_v1.json", reference: "RFC 2104", bugClass: .forgery,
      judge: { group, algorithm in { hmac($0, group, HashAlgorithm(published: algorithm)) } }),
  ]

  private static func aead(_ group: JSON) -> (JSON) -> PublishedCase.Finding {
    func bits(_ name: String) -> Int64 { group[name]?.integer ?? 0 }
    let (keySize, nonceSize, tagSize) = (bits("keySize"), bits("ivSize"), bits("tagSize"))
    let isOurs = nonceSize == 96 && tagSize == 128 && (keySize == 128 || keySize == 256)
    return { test in
      let key = SecretBytes(copying: test.hex("key"))
      let sealed = test.hex("ct") + test.hex("tag")
      let (nonce, aad, message) = (test.hex("iv"), test.hex("aad"), test.hex("msg"))
      let opened = try? AESGCM.open(sealed, key: key, nonce: nonce, additionalData: aad)
      guard isOurs else {
        return opened == nil
          ? .skipped(nonceSize == 96 && tagSize == 128 ? "keys of \(keySize) bits" : "nonces of other than 96 bits")
          : .other("opened with sizes that mdoc does not use")
      }
      if test["result"]?.string == "valid",
        (try? AESGCM.seal(message, key: key, nonce: nonce, additionalData: aad)) != sealed
      {
        return .other("sealed to other bytes")
      }
      return .init(output: opened, right: message, of: test)
    }
  }

  private static func hkdf(_ test: JSON, _ hash: HashAlgorithm?) -> PublishedCase.Finding {
    guard let hash else { return .skipped("its hash is not used by mdoc") }
    let (salt, info, right) = (test.hex("salt"), test.hex("info"), test.hex("okm"))
    let secret = SecretBytes(copying: test.hex("ikm"))
    let length = Int(test["size"]?.integer ?? 0)
    var output: [UInt8]?
    var inTwoSteps: [UInt8]?
    do throws(CryptoError) {
      output = try HKDF.deriveKey(from: secret, salt: salt, info: info, length: length, hash: hash).exposed()
      let extracted = try HKDF.extract(secret, salt: salt, hash: hash)
      inTwoSteps = try HKDF.expand(extracted, info: info, length: length, hash: hash).exposed()
    } catch {
      return .refused()
    }
    guard output == inTwoSteps else { return .other("extract and expand give another key") }
    return .init(output: output, right: right, of: test)
  }

  private static func hmac(_ test: JSON, _ group: JSON, _ hash: HashAlgorithm?) -> PublishedCase.Finding {
    guard let hash else { return .skipped("its hash is not used by mdoc") }
    let key = SecretBytes(copying: test.hex("key"))
    let (message, tag) = (test.hex("msg"), test.hex("tag"))
    let isValid = HMAC.isValid(tag, of: message, key: key, hash: hash)
    let size = group["tagSize"]?.integer ?? 0
    guard size == Int64(hash.digestLength * 8) else {
      return isValid ? .other("a shortened tag is taken") : .skipped("tags of \(size) bits")
    }
    guard (HMAC.authenticate(message, key: key, hash: hash) == tag) == isValid else {
      return .other("makes one tag and takes another")
    }
    return .init(isAccepted: isValid)
  }
}
