import Base
import Cryptography
import TestSupport
import Testing

@testable import JOSE

@Suite struct JSONWebKeyTests {
  @Test(arguments: Curve.allCases)
  func readsThePublicKeyOfEveryCurve(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let read = try JSONWebKey(parsing: json(of: key))
    #expect(read.key == key)
    #expect(read.keyID == nil && read.algorithmName == nil && read.use == nil && read.operations == nil)
  }

  @Test func refusesWhatIsNoPublicKey() throws {
    let good = json(of: try PrivateKey(generatingOn: .p256).publicKey)
    let raw = json(of: try PrivateKey(generatingOn: .ed25519).publicKey)
    #expect(throws: Never.self) { try JSONWebKey(parsing: good) }
    let x = good["x"]?.string ?? ""
    let changes: [(JSON, String, JSON?)] = [
      (good, "d", "AA"), (good, "kty", "RSA"), (good, "kty", "OKP"), (good, "kty", nil), (good, "crv", "P-384"),
      (good, "crv", "p-256"), (good, "crv", "secp256k1"), (good, "crv", nil), (good, "x", nil), (good, "y", nil),
      (good, "y", .string(x)), (good, "x", .string(x + "AA")), (good, "x", .string(x + "=")), (good, "x", 1),
      (good, "kid", 1), (good, "alg", []), (good, "use", nil as JSON? ?? .null), (good, "key_ops", "verify"),
      (good, "key_ops", [1]), (good, "key_ops", ["verify", "verify"]), (raw, "kty", "EC"), (raw, "crv", "Ed448"),
      // The identity, of small order.
      (raw, "x", .string(Base64.encodeURLSafe([1] + [UInt8](repeating: 0, count: 31)))),
    ]
    for (key, name, value) in changes {
      #expect(throws: JOSEError.invalidKey, "\(name)") { try JSONWebKey(parsing: replacing(name, by: value, in: key)) }
    }
    #expect(throws: JOSEError.invalidKey) { try JSONWebKey(parsing: []) }
  }

  @Test func saysWhatItMayBeUsedFor() throws {
    let good = json(of: try PrivateKey(generatingOn: .p256).publicKey)
    let algorithm = try #require(SignatureAlgorithm(joseName: "ES256"))
    let allowed: [(String, JSON)] = [
      ("alg", "ES256"), ("use", "sig"), ("key_ops", ["verify"]), ("key_ops", ["sign", "verify"]),
    ]
    let refused: [(String, JSON)] = [
      ("alg", "ES384"), ("alg", "ECDH-ES"), ("use", "enc"), ("use", ""), ("key_ops", []), ("key_ops", ["sign"]),
    ]
    #expect(try JSONWebKey(parsing: good).mayVerify(algorithm))
    for (name, value) in allowed {
      #expect(try JSONWebKey(parsing: replacing(name, by: value, in: good)).mayVerify(algorithm), "\(name)")
    }
    for (name, value) in refused {
      #expect(try !JSONWebKey(parsing: replacing(name, by: value, in: good)).mayVerify(algorithm), "\(name)")
    }
    let other = json(of: try PrivateKey(generatingOn: .p384).publicKey)
    #expect(try !JSONWebKey(parsing: other).mayVerify(algorithm))
  }

  @Test func `A key for something else agrees no secret`() throws {
    let good = json(of: try PrivateKey(generatingOn: .p256).publicKey)
    let allowed: [(String, JSON)] = [
      ("alg", "ECDH-ES"), ("use", "enc"), ("key_ops", []), ("key_ops", ["deriveKey"]), ("key_ops", ["deriveBits"]),
    ]
    let refused: [(String, JSON)] = [
      ("alg", "ES256"), ("alg", "ECDH-ES+A128KW"), ("use", "sig"), ("use", ""), ("key_ops", ["verify"]),
      ("key_ops", ["encrypt"]),
    ]
    #expect(try JSONWebKey(parsing: good).agreementKey != nil)
    for (name, value) in allowed {
      #expect(try JSONWebKey(parsing: replacing(name, by: value, in: good)).agreementKey != nil, "\(name)")
    }
    for (name, value) in refused {
      #expect(try JSONWebKey(parsing: replacing(name, by: value, in: good)).agreementKey == nil, "\(name)")
    }
  }

  /// draft-ietf-oauth-status-list: its key is published with the private part, which is refused.
  @Test(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
  func verifiesThePublishedStatusList() throws {
    let published = try JSON(parsing: PublishedVectors.bytes("token-status-list/signing-key.jwk.json"))
    #expect(throws: JOSEError.invalidKey) { try JSONWebKey(parsing: published) }
    let key = try JSONWebKey(parsing: replacing("d", by: nil, in: published))
    let jws = try CompactJWS(parsing: PublishedVectors.bytes("token-status-list/status_list.jwt"))
    #expect(jws.header.keyID == key.keyID && jws.header.type == "statuslist+jwt")
    let algorithm = try #require(jws.header.algorithm)
    #expect(key.mayVerify(algorithm))
    #expect(jws.verify(with: key.key) == .valid)
  }
}

func json(of key: PublicKey) -> JSON {
  let curve = JSON.string(key.curve.rawValue)
  guard let (x, y) = key.coordinates else {
    return ["kty": "OKP", "crv": curve, "x": .string(Base64.encodeURLSafe(key.encoded))]
  }
  return [
    "kty": "EC", "crv": curve, "x": .string(Base64.encodeURLSafe(x)), "y": .string(Base64.encodeURLSafe(y)),
  ]
}

/// The object with the member set, or without it.
func replacing(_ name: String, by value: JSON?, in json: JSON) -> JSON {
  .object((json.object ?? []).filter { $0.name != name } + (value.map { [JSON.Member(name, $0)] } ?? []))
}

extension JSONWebKey {
  /// True if the key may verify signatures of this algorithm, by curve, `alg`, `use` and `key_ops`.
  func mayVerify(_ algorithm: SignatureAlgorithm) -> Bool {
    algorithm.joseCurves.contains(key.curve) && (algorithmName?.hasSameBytes(as: algorithm.name) ?? true)
      && (use ?? "sig") == "sig" && (operations?.contains("verify") ?? true)
  }
}
