import Cryptography
import TestSupport
import Testing

@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct WycheproofSymmetricTests {
  struct AEADGroup: Decodable {
    struct Test: Decodable {
      let tcId: Int
      let key, iv, aad, msg, ct, tag: HexBytes
      let result: Verdict
    }
    let ivSize, keySize, tagSize: Int
    let tests: [Test]
  }

  @Test func opensAndSealsAESGCM() throws {
    var tally = Tally("aes_gcm")
    let vectors = try Wycheproof<AEADGroup>(tally.name)
    for group in vectors.testGroups {
      let isOurs = group.ivSize == 96 && group.tagSize == 128 && group.keySize != 192
      for test in group.tests {
        let key = SecretBytes(copying: test.key.bytes)
        let sealed = test.ct.bytes + test.tag.bytes
        let opened = try? AESGCM.open(sealed, key: key, nonce: test.iv.bytes, additionalData: test.aad.bytes)
        guard isOurs else {
          #expect(opened == nil, "other nonces, tags and keys are refused, \(test.tcId)")
          tally.noteUnsupported()
          continue
        }
        tally.note(test.tcId, test.result, output: opened, right: test.msg.bytes)
        if test.result == .valid {
          let made = try AESGCM.seal(test.msg.bytes, key: key, nonce: test.iv.bytes, additionalData: test.aad.bytes)
          #expect(made == sealed, "\(test.tcId)")
        }
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.total == vectors.numberOfTests)
  }

  struct HKDFGroup: Decodable {
    struct Test: Decodable {
      let tcId, size: Int
      let ikm, salt, info, okm: HexBytes
      let result: Verdict
    }
    let tests: [Test]
  }

  @Test(arguments: [HashAlgorithm.sha256, .sha384, .sha512])
  func derivesByHKDF(hash: HashAlgorithm) throws {
    var tally = Tally("hkdf_sha\(hash.digestLength * 8)")
    let vectors = try Wycheproof<HKDFGroup>(tally.name)
    for test in vectors.testGroups.flatMap(\.tests) {
      let secret = SecretBytes(copying: test.ikm.bytes)
      let derived = try? HKDF.deriveKey(
        from: secret, salt: test.salt.bytes, info: test.info.bytes, length: test.size, hash: hash
      ).exposed()
      tally.note(test.tcId, test.result, output: derived, right: test.okm.bytes)
      if test.result == .valid {
        let extracted = try HKDF.extract(secret, salt: test.salt.bytes, hash: hash)
        let expanded = try HKDF.expand(extracted, info: test.info.bytes, length: test.size, hash: hash).exposed()
        #expect(expanded == test.okm.bytes, "in two steps, \(test.tcId)")
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == vectors.numberOfTests)
  }

  struct HMACGroup: Decodable {
    struct Test: Decodable {
      let tcId: Int
      let key, msg, tag: HexBytes
      let result: Verdict
    }
    let tagSize: Int
    let tests: [Test]
  }

  @Test func authenticatesByHMAC() throws {
    var tally = Tally("hmac_sha256")
    let vectors = try Wycheproof<HMACGroup>(tally.name)
    for group in vectors.testGroups {
      for test in group.tests {
        let key = SecretBytes(copying: test.key.bytes)
        let isValid = HMAC.isValid(test.tag.bytes, of: test.msg.bytes, key: key, hash: .sha256)
        guard group.tagSize == 256 else {
          #expect(!isValid, "truncated tags are refused, \(test.tcId)")
          tally.noteUnsupported()
          continue
        }
        tally.note(test.tcId, test.result, accepted: isValid)
        let made = HMAC.authenticate(test.msg.bytes, key: key, hash: .sha256)
        #expect((made == test.tag.bytes) == (test.result == .valid), "\(test.tcId)")
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.total == vectors.numberOfTests)
  }
}
