import Cryptography
import TestSupport
import Testing

@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct WycheproofSignatureTests {
  struct Test: Decodable {
    let tcId: Int
    let msg, sig: HexBytes
    let result: Verdict
  }

  struct ECDSAGroup: Decodable {
    struct Key: Decodable { let uncompressed: HexBytes }
    let publicKey: Key
    let sha: String
    let tests: [Test]
  }

  struct EdDSAGroup: Decodable {
    struct Key: Decodable { let pk: HexBytes }
    let publicKey: Key
    let tests: [Test]
  }

  static let ecdsaFiles: [(String, Curve, HashAlgorithm)] = [
    ("secp256r1_sha256", .p256, .sha256), ("secp256r1_sha512", .p256, .sha512), ("secp384r1_sha384", .p384, .sha384),
    ("secp384r1_sha512", .p384, .sha512), ("secp521r1_sha512", .p521, .sha512),
    ("brainpoolP256r1_sha256", .brainpoolP256r1, .sha256), ("brainpoolP320r1_sha384", .brainpoolP320r1, .sha384),
    ("brainpoolP384r1_sha384", .brainpoolP384r1, .sha384), ("brainpoolP512r1_sha512", .brainpoolP512r1, .sha512),
  ]

  /// Fixed-width r‖s.
  @Test(arguments: ecdsaFiles)
  func verifiesECDSA(file: String, curve: Curve, hash: HashAlgorithm) throws {
    var tally = Tally("ecdsa_\(file)_p1363")
    let vectors = try Wycheproof<ECDSAGroup>(tally.name)
    for group in vectors.testGroups {
      #expect(group.sha == "SHA-\(hash.digestLength * 8)")
      let key = try PublicKey(curve: curve, encoded: group.publicKey.uncompressed.bytes)
      for test in group.tests {
        let isValid = key.verifyECDSA(test.sig.bytes, of: test.msg.bytes, hash: hash)
        tally.note(test.tcId, test.result, accepted: isValid)
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == vectors.numberOfTests)
  }

  /// DER is another encoding, and no signature of a mdoc: even the valid ones are refused.
  @Test(arguments: ecdsaFiles)
  func refusesEverySignatureInDER(file: String, curve: Curve, hash: HashAlgorithm) throws {
    let vectors = try Wycheproof<ECDSAGroup>("ecdsa_\(file)")
    var accepted: [Int] = []
    for group in vectors.testGroups {
      let key = try PublicKey(curve: curve, encoded: group.publicKey.uncompressed.bytes)
      for test in group.tests where test.result == .valid {
        if key.verifyECDSA(test.sig.bytes, of: test.msg.bytes, hash: hash) { accepted.append(test.tcId) }
      }
    }
    #expect(accepted == [])
  }

  @Test(arguments: [("ed25519", Curve.ed25519), ("ed448", .ed448)])
  func verifiesEdDSA(file: String, curve: Curve) throws {
    var tally = Tally(file)
    let vectors = try Wycheproof<EdDSAGroup>(file)
    for group in vectors.testGroups {
      let key = try PublicKey(curve: curve, encoded: group.publicKey.pk.bytes)
      for test in group.tests {
        tally.note(test.tcId, test.result, accepted: key.verifyEdDSA(test.sig.bytes, of: test.msg.bytes))
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == vectors.numberOfTests)
  }
}
