import Base
import Cryptography
import TestSupport
import Testing

@testable import JOSE

/// Other implementations' messages: OpenID4VP's and RFC 7518's examples, Wycheproof.
@Suite struct PublishedJWETests {
  /// RFC 7518, appendix C: the key of ECDH-ES with A128GCM, `apu` "Alice" and `apv` "Bob".
  @Test func derivesTheKeyOfRFC7518() throws {
    let secret = SecretBytes(
      copying: [
        158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110, 163, 218, 128, 106, 72,
        246, 218, 167, 121, 140, 254, 144, 196,
      ] as [UInt8])
    let info: [UInt8] =
      [0, 0, 0, 7] + Array("A128GCM".utf8) + [0, 0, 0, 5] + Array("Alice".utf8) + [0, 0, 0, 3] + Array("Bob".utf8)
      + [0, 0, 0, 128]
    let key = try ConcatKDF.deriveKey(from: secret, info: info, length: 16)
    #expect(Base64.encodeURLSafe(key.exposed()) == "VqqN6vgjbSBcIijNcacQGg")
  }

  @Test(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
  func opensTheExampleOfOpenID4VP() throws {
    let example = try JSON(parsing: PublishedVectors.bytes("openid4vp-1.0/jwe-example.json"))
    let jwe = try CompactJWE(parsing: try #require(example["jwe"]?.string).utf8)
    #expect(jwe.header.keyID == "ac" && jwe.header.partyUInfo == [] && jwe.header.partyVInfo == [])
    let plaintext = try jwe.decrypt(with: try Self.privateKey(example["privateJwk"]))
    #expect(plaintext == Array(try #require(example["plaintextUtf8"]?.string).utf8))
  }

  /// C2SP/wycheproof: valid tests of our profile open, and no other test does.
  @Test(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
  func agreesWithWycheproof() throws {
    let file = try JSON(parsing: PublishedVectors.bytes("wycheproof/json_web_encryption_test.json"))
    var opened: [Int64] = []
    var refused = 0
    for group in try #require(file["testGroups"]?.array) {
      // Groups of RSA and symmetric keys: their JWEs must not even be read.
      let key = try? Self.privateKey(group["private"])
      for test in group["tests"]?.array ?? [] {
        guard let text = test["jwe"]?.string, let jwe = try? CompactJWE(parsing: text.utf8), let key,
          let plaintext = try? jwe.decrypt(with: key)
        else {
          refused += 1
          continue
        }
        #expect(test["result"]?.string == "valid" && plaintext == Hex.decode(test["pt"]?.string ?? "-"))
        opened.append(test["tcId"]?.integer ?? 0)
      }
    }
    // acceptsEcdhEsA128Gcm and acceptsEcdhEsA256Gcm; the other content encryptions are CBC or of 192 bits.
    #expect(opened == [76, 78])
    #expect(refused == 137)
  }

  private static func privateKey(_ json: JSON?) throws -> PrivateKey {
    guard let json, let scalar = json["d"]?.string.flatMap(Base64.decodeURLSafe) else { throw JOSEError.invalidKey }
    let key = try JSONWebKey(parsing: replacing("d", by: nil, in: json)).key
    let secret = try PrivateKey(curve: key.curve, scalar: scalar)
    #expect(secret.publicKey == key)
    return secret
  }
}
