import Base
import Cryptography
import Vectors

/// The tests of C2SP/wycheproof. A file is judged by its schema, and each of its tests is a case.
struct WycheproofSet: PublishedSet {
  let name = "wycheproof"

  private static let suffix = "_test.json"

  /// How the files of one schema are judged.
  struct Kind: Sendable {
    let schema: String
    let reference: String
    /// The attacker's gain if a test is wrongly accepted.
    let bugClass: BugClass
    /// Makes the judge of a group's tests. What the tests share is read once for the group.
    let judge: @Sendable (_ group: JSON, _ algorithm: String) -> (_ test: JSON) -> PublishedCase.Finding
  }

  private static let kinds = WycheproofSignatures.kinds + WycheproofAgreement.kinds + WycheproofSymmetric.kinds

  func isHere(_ folder: SuiteFolder) -> Bool {
    (try? folder.files())?.contains { $0.hasSuffix(Self.suffix) } ?? false
  }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for file in try folder.files() where file.hasSuffix(Self.suffix) {
      let json = try folder.json(file)
      guard let schema = json["schema"]?.string, let groups = json["testGroups"]?.array else {
        throw SuiteError(path: "\(folder.path)/\(file)", problem: "is not Wycheproof's JSON")
      }
      let kind = Self.kinds.first { $0.schema == schema } ?? Self.unknown(schema)
      let part = String(file.dropLast(Self.suffix.count))
      for group in groups {
        let judge = kind.judge(group, json["algorithm"]?.string ?? "")
        cases += (group["tests"]?.array ?? []).map { test in Self.makeCase(part, kind, test) { judge(test) } }
      }
    }
    return cases
  }

  private static func makeCase(
    _ part: String, _ kind: Kind, _ test: JSON, judge: @escaping () -> PublishedCase.Finding
  ) -> PublishedCase {
    let expectation: CaseSummary.Expectation =
      switch test["result"]?.string {
      case "valid": .accepted
      case "acceptable": .either
      default: .refused([])
      }
    let comments = [test["comment"], test["name"]].compactMap { $0?.string }.filter { !$0.isEmpty }
    let flag = test["flags"]?.array?.first?.string ?? "Wycheproof"
    return PublishedCase(
      part: part, id: "\(test["tcId"]?.integer ?? 0)", description: (comments.first ?? "No comment") + ".",
      reference: kind.reference,
      flag: VectorFlag(flag, expectation == .accepted ? .interoperability : kind.bugClass), expectation: expectation,
      judge: judge)
  }

  /// A kind that skips its tests, for schemas that are not judged here. JOSE is implemented for one profile, and most
  /// tests are of other profiles. The JOSE module's own tests cover the rest.
  private static func unknown(_ schema: String) -> Kind {
    let reason =
      schema.hasPrefix("json_web_")
      ? "JOSE is judged by the tests of its module" : "tests of the schema \(schema) are not known here"
    return Kind(schema: schema, reference: "None", bugClass: .forgery, judge: { _, _ in { _ in .skipped(reason) } })
  }
}

extension PublishedCase.Finding {
  /// Judges an output: nil counts as refused, any other output must be the right one.
  init(output: [UInt8]?, right: [UInt8], of test: JSON) {
    // If the test is to be refused, every output counts as accepted, whatever its bytes.
    if let output, output != right, test["result"]?.string != "invalid" {
      self = .other("another output")
    } else {
      self.init(isAccepted: output != nil)
    }
  }
}

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

  /// - Parameter verify: nil if a DER signature is also valid as r‖s.
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
  /// The hash whose size the name ends with, such as `SHA-256` or `HMACSHA256`; nil if mdoc does not use it.
  init?(published name: String?) {
    let found = [HashAlgorithm.sha256, .sha384, .sha512].first { hash in
      name?.hasSuffix("\(hash.digestLength * 8)") ?? false
    }
    guard let found else { return nil }
    self = found
  }
}

/// AES-GCM, HKDF and HMAC. A test with sizes that mdoc does not use is skipped, but only if it is refused as it must
/// be.
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

/// ECDH with points and with keys in SubjectPublicKeyInfo, X25519 and X448, and the curves' parameters.
enum WycheproofAgreement {
  static let kinds = [
    WycheproofSet.Kind(
      schema: "ecdh_ecpoint_test_schema_v1.json", reference: "NIST SP 800-56A, 5.7.1.2", bugClass: .disclosure,
      judge: { group, _ in ecdh(group) { test, _ in test.hex("public") } }),
    WycheproofSet.Kind(
      schema: "ecdh_test_schema_v1.json", reference: "NIST SP 800-56A, 5.7.1.2", bugClass: .disclosure,
      judge: { group, _ in ecdh(group) { test, curve in SPKIPoint.point(in: test.hex("public"), on: curve) } }),
    WycheproofSet.Kind(
      schema: "xdh_comp_schema_v1.json", reference: "RFC 7748, 6", bugClass: .disclosure,
      judge: { group, _ in
        let curve = curve(of: group)
        return { test in
          guard let curve else { return .skipped("a curve that mdoc does not use") }
          return montgomery(curve, test)
        }
      }),
    WycheproofSet.Kind(
      schema: "ec_curve_test_schema.json", reference: "SEC 2; RFC 5639, 3", bugClass: .forgery,
      judge: { _, _ in
        { test in
          let name = test["name"]?.string ?? ""
          guard let curve = CurveParameters.curve(named: name) else {
            return .skipped("a curve that mdoc does not use")
          }
          return CurveParameters.finding(on: curve, test)
        }
      }),
  ]

  private static func curve(of group: JSON) -> Curve? { group["curve"]?.string.flatMap(CurveParameters.curve(named:)) }

  private static func ecdh(
    _ group: JSON, point: @escaping (_ test: JSON, Curve) -> [UInt8]?
  ) -> (JSON) -> PublishedCase.Finding {
    let curve = curve(of: group)
    return { test in
      guard let curve else { return .skipped("a curve that mdoc does not use") }
      guard let point = point(test, curve) else {
        // A valid key must be read. The other tests are about DER that PKIX reads with a parser of its own.
        return test["result"]?.string == "valid"
          ? .refused() : .skipped("its key is not a named curve's point in DER")
      }
      return .init(output: agree(curve, scalar: scalar(of: test), point: point), right: test.hex("shared"), of: test)
    }
  }

  /// The shared secret; nil if the point is refused. A compressed point is imported as COSE keys are, by x and a sign
  /// bit.
  private static func agree(_ curve: Curve, scalar: [UInt8], point: [UInt8]) -> [UInt8]? {
    let peer =
      point.first == 2 || point.first == 3
      ? try? PublicKey(curve: curve, x: point.dropFirst(), yIsOdd: point.first == 3)
      : try? PublicKey(curve: curve, encoded: point)
    guard let peer,
      let key = try? PrivateKey(curve: curve, scalar: CurveParameters.padded(scalar, curve)),
      let secret = try? key.sharedSecret(with: peer)
    else { return nil }
    return secret.exposed()
  }

  /// Judges X25519 and X448. Every public key whose secret is not zero must be accepted, although the tests would let a
  /// verifier refuse some of them.
  private static func montgomery(_ curve: Curve, _ test: JSON) -> PublishedCase.Finding {
    guard let key = try? PrivateKey(curve: curve, scalar: test.hex("private")) else {
      return .other("its private key is refused")
    }
    let right = test.hex("shared")
    let output = (try? PublicKey(curve: curve, encoded: test.hex("public"))).flatMap { peer -> [UInt8]? in
      guard let secret = try? key.sharedSecret(with: peer) else { return nil }
      return secret.exposed()
    }
    guard (output == nil) == right.allSatisfy({ $0 == 0 }) else {
      return .other(output == nil ? "refused though the secret is not zero" : "agreed on zero")
    }
    return .init(output: output, right: right, of: test)
  }

  /// The private scalar. In some tests it has an odd number of hexadecimal digits.
  private static func scalar(of test: JSON) -> [UInt8] {
    let digits = test["private"]?.string ?? ""
    return Hex.decode(digits.count % 2 == 0 ? digits : "0" + digits) ?? []
  }
}

/// Reads the point of a SubjectPublicKeyInfo, only in exactly the DER of a named curve and a point. Anything else
/// (other curves, explicit parameters, BER) is left to PKIX, which reads keys within certificates.
enum SPKIPoint {
  static func point(in spki: [UInt8], on curve: Curve) -> [UInt8]? {
    guard let identifier = identifier(of: curve) else { return nil }
    let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    let algorithm = sequence(ecPublicKey + [0x06, UInt8(identifier.count)] + identifier)
    // A compressed and an uncompressed point differ in length, so each length is tried at the end of the bytes.
    for length in [1 + curve.coordinateLength, 1 + 2 * curve.coordinateLength] where length <= spki.count {
      let point = Array(spki.suffix(length))
      guard [2, 3, 4].contains(point[0]) else { continue }
      if sequence(algorithm + [0x03] + self.length(length + 1) + [0x00] + point) == spki { return point }
    }
    return nil
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { [0x30] + length(content.count) + content }

  private static func length(_ length: Int) -> [UInt8] { length < 128 ? [UInt8(length)] : [0x81, UInt8(length)] }

  /// The curve's object identifier, in DER without tag and length (RFC 5480, 2.1.1.1; RFC 5639, 4.1).
  private static func identifier(of curve: Curve) -> [UInt8]? {
    let brainpool: [UInt8] = [0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01]
    switch curve {
    case .p256: return [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    case .p384: return [0x2b, 0x81, 0x04, 0x00, 0x22]
    case .p521: return [0x2b, 0x81, 0x04, 0x00, 0x23]
    case .brainpoolP256r1: return brainpool + [0x07]
    case .brainpoolP320r1: return brainpool + [0x09]
    case .brainpoolP384r1: return brainpool + [0x0b]
    case .brainpoolP512r1: return brainpool + [0x0d]
    default: return nil
    }
  }
}
