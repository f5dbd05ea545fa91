import Base
import Cryptography
import Testing

@testable import JOSE

@Suite struct JWSSignerTests {
  @Test(arguments: [
    (Curve.p256, "ES256"), (.p384, "ES384"), (.p521, "ES512"), (.ed25519, "EdDSA"), (.ed448, "EdDSA"),
    (.brainpoolP384r1, "ESB384"),
  ])
  func whatItSignsVerifiesUnderTheAlgorithmOfItsKey(curve: Curve, name: String) throws {
    let key = try PrivateKey(generatingOn: curve)
    let signer = try JWSSigner(key: key, parameters: [JSON.Member("typ", "oauth-authz-req+jwt")])
    let jws = try CompactJWS(parsing: signer.sign(Array("{}".utf8)).utf8)
    #expect(jws.header.algorithmName == name && jws.header.type == "oauth-authz-req+jwt")
    #expect(jws.payload == Array("{}".utf8) && jws.signature.count == curve.signatureLength)
    #expect(jws.verify(with: key.publicKey) == .valid)
  }

  @Test(arguments: [Curve.x25519, .x448])
  func keysThatOnlyAgreeSignNothing(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    #expect(throws: JOSEError.invalidKey) { try JWSSigner(key: key, parameters: []) }
  }

  /// Each part of the general serialization is a compact one with the payload put in.
  @Test func severalSignersSignOnePayloadUnderTheirOwnHeaders() throws {
    let keys = [try PrivateKey(generatingOn: .p256), try PrivateKey(generatingOn: .p384)]
    let signers = try keys.enumerated().map { index, key in
      try JWSSigner(key: key, parameters: [JSON.Member("client_id", .string("client \(index)"))])
    }
    let json = try JWSSigner.sign(Array("payload".utf8), by: signers)
    #expect(json.object?.map(\.name) == ["payload", "signatures"])
    let payload = try #require(json["payload"]?.string)
    let signatures = try #require(json["signatures"]?.array)
    #expect(signatures.count == 2)
    for (index, entry) in signatures.enumerated() {
      let text = [try #require(entry["protected"]?.string), payload, try #require(entry["signature"]?.string)]
      let jws = try CompactJWS(parsing: text.joined(separator: ".").utf8)
      #expect(jws.header["client_id"]?.string == "client \(index)")
      #expect(jws.verify(with: keys[index].publicKey) == .valid)
    }
  }

  /// The key of OpenID4VP 1.0, appendix B.2.6, and that of RFC 8037, appendix A.3, with their printed thumbprints.
  @Test func namesKeysByTheirThumbprints() throws {
    let published: [(JSON, String)] = [
      (
        [
          "kty": "EC", "crv": "P-256", "x": "DxiH5Q4Yx3UrukE2lWCErq8N8bqC9CHLLrAwLz5BmE0",
          "y": "XtLM4-3h5o3HUH0MHVJV0kyq0iBlrBwlh8qEDMZ4-Pc",
        ], "4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047"
      ),
      (
        ["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
        Hex.encode(try #require(Base64.decodeURLSafe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")))
      ),
    ]
    for (json, thumbprint) in published {
      let key = try JSONWebKey(parsing: json).key
      #expect(Hex.encode(JSONWebKey.thumbprint(of: key)) == thumbprint)
    }
  }

  @Test(arguments: [Curve.p256, .brainpoolP512r1, .x448])
  func publishesKeysForEncryptionAlone(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let written = JSONWebKey.encryptionKey(key)
    let read = try JSONWebKey(parsing: written)
    #expect(read.key == key && read.use == "enc" && read.algorithmName == "ECDH-ES")
    #expect(read.keyID == Base64.encodeURLSafe(JSONWebKey.thumbprint(of: key)))
    #expect(written["d"] == nil)
  }
}
