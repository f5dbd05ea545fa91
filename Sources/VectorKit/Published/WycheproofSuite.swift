import Cryptography
import Primitives

/// C2SP/wycheproof's ECDSA signatures in the form that COSE has (r‖s, IEEE P1363), against our signature check.
enum WycheproofSuite {
  private static let files: [(name: String, curve: Curve, hash: HashAlgorithm)] = [
    ("secp256r1_sha256", .p256, .sha256), ("secp256r1_sha512", .p256, .sha512), ("secp384r1_sha384", .p384, .sha384),
    ("secp384r1_sha512", .p384, .sha512), ("secp521r1_sha512", .p521, .sha512),
    ("brainpoolP256r1_sha256", .brainpoolP256r1, .sha256), ("brainpoolP320r1_sha384", .brainpoolP320r1, .sha384),
    ("brainpoolP384r1_sha384", .brainpoolP384r1, .sha384), ("brainpoolP512r1_sha512", .brainpoolP512r1, .sha512),
  ]

  static func isHere(_ folder: SuiteFolder) -> Bool { files.contains { folder.has(path($0.name)) } }

  static func results(in folder: SuiteFolder, filter: String?) throws(SuiteError) -> [VectorResult] {
    var results: [VectorResult] = []
    for file in files where folder.has(path(file.name)) {
      guard let json = try? JSON(parsing: folder.read(path(file.name))), let groups = json["testGroups"]?.array else {
        throw SuiteError(path: "\(folder.path)/\(path(file.name))", problem: "is not Wycheproof's JSON")
      }
      for group in groups {
        let point = Hex.decode(group["publicKey"]?["uncompressed"]?.string ?? "") ?? []
        let key = try? PublicKey(curve: file.curve, encoded: point)
        for test in group["tests"]?.array ?? [] {
          let result = result(of: test, file, key)
          if filter.map({ result.vector.id.contains($0) }) ?? true { results.append(result) }
        }
      }
    }
    return results
  }

  private static func result(
    of test: JSON, _ file: (name: String, curve: Curve, hash: HashAlgorithm), _ key: PublicKey?
  ) -> VectorResult {
    let expected = test["result"]?.string ?? ""
    let comment = test["comment"]?.string ?? ""
    let flags = test["flags"]?.array?.compactMap(\.string) ?? []
    let vector = PublishedSuite.vector(
      "\(file.name)-\(test["tcId"]?.integer ?? 0)", (comment.isEmpty ? "Signature" : comment) + ".",
      reference: "FIPS 186-5, 6.4.2",
      flag: VectorFlag(flags.first ?? "Signature", expected == "valid" ? .interoperability : .forgery),
      isAccepted: expected == "valid")
    let start = ContinuousClock.now
    let isValid: Bool
    if let key, let signature = Hex.decode(test["sig"]?.string ?? ""),
      let message = Hex.decode(test["msg"]?.string ?? "")
    {
      isValid = key.verifyECDSA(signature, of: message, hash: file.hash)
    } else {
      isValid = false
    }
    let isRight = expected == "acceptable" || isValid == (expected == "valid")
    return VectorResult(
      group: path(file.name), vector: vector,
      outcome: isRight ? .passed : .failed("\(isValid ? "accepted" : "refused") and is \(expected)"),
      judgement: Judgement(isAccepted: isValid), duration: (ContinuousClock.now - start).seconds)
  }

  private static func path(_ name: String) -> String { "ecdsa_\(name)_p1363_test.json" }
}
