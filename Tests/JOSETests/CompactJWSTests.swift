import Base
import Cryptography
import Testing

@testable import JOSE

/// The compact serialization is unambiguous, and verified only with the caller's key.
@Suite struct CompactJWSTests {
  let key: PrivateKey

  init() throws { key = try PrivateKey(generatingOn: .p256) }

  @Test func whatWasSignedVerifies() throws {
    let text = try sign(#"{"alg":"ES256","typ":"JOSE","kid":"7","iat":1795000000}"#, "hello")
    let jws = try CompactJWS(parsing: text.utf8)
    #expect(jws.payload == Array("hello".utf8))
    #expect(jws.header.type == "JOSE" && jws.header.keyID == "7" && jws.header.issuedAt == 1_795_000_000)
    #expect(jws.header.certificateChain == nil && jws.header.critical == [])
    #expect(jws.verify(with: key.publicKey) == .valid)
    #expect(jws.verify(with: try PrivateKey(generatingOn: .p256).publicKey) == .invalid)
  }

  @Test(arguments: [
    ("ES256", Curve.p256), ("ES384", .p384), ("ES512", .p521), ("EdDSA", .ed25519), ("EdDSA", .ed448),
    ("Ed25519", .ed25519), ("Ed448", .ed448), ("ESB256", .brainpoolP256r1), ("ESB320", .brainpoolP320r1),
    ("ESB384", .brainpoolP384r1), ("ESB512", .brainpoolP512r1),
  ])
  func everyAlgorithmIsBoundToItsCurves(name: String, curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    let jws = try CompactJWS(parsing: signed(#"{"alg":"\#(name)"}"#, "x", with: key, as: name).utf8)
    #expect(jws.verify(with: key.publicKey) == .valid)
    for other in Curve.allCases where jws.header.algorithm?.joseCurves.contains(other) == false {
      #expect(jws.verify(with: try PrivateKey(generatingOn: other).publicKey) == .keyMismatch, "\(other)")
    }
    let others = SignatureAlgorithm.jose.filter { $0.name != name }
    #expect(jws.verify(with: key.publicKey, allowing: others) == .algorithmUnsupported)
  }

  @Test(arguments: ["none", "None", "", "HS256", "HS512", "RS256", "PS256", "es256", "ES256K", "ES256 ", "ESP256"])
  func anyOtherAlgorithmIsUnsupported(name: String) throws {
    let header = #"{"alg":"\#(name)"}"#
    #expect(try CompactJWS(parsing: sign(header, "x").utf8).verify(with: key.publicKey) == .algorithmUnsupported)
    let unsigned = encode(header) + "." + encode("x") + "."
    #expect(try CompactJWS(parsing: unsigned.utf8).verify(with: key.publicKey) == .algorithmUnsupported)
  }

  @Test func everyByteOfHeaderPayloadAndSignatureIsCovered() throws {
    let text = Array(try sign(#"{"alg":"ES256"}"#, "hello").utf8)
    for index in text.indices {
      var changed = text
      changed[index] = text[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let jws = try? CompactJWS(parsing: changed)
      #expect(jws?.verify(with: key.publicKey) != .valid, "\(index)")
    }
  }

  @Test func anythingButThreePartsInStrictBase64URLIsMalformed() throws {
    let good = try sign(#"{"alg":"ES256"}"#, "hell")
    let parts = good.split(separator: ".").map(String.init)
    let wrong = [
      "", ".", "..", parts[0], parts[0] + "." + parts[1], good + ".", good + "." + parts[2], good + "\n", " " + good,
      good + "=", parts[0] + "=." + parts[1] + "." + parts[2], parts[0] + "." + parts[1] + "==." + parts[2],
      // Stray bits in the payload's last character; the other alphabet; text that is not ASCII.
      parts[0] + "." + parts[1].dropLast() + "B." + parts[2], parts[0] + ".+/+/." + parts[2],
      parts[0] + ".é." + parts[2], parts[0] + ". ." + parts[2],
    ]
    for text in wrong where text != ".." {
      #expect(throws: JOSEError.malformed, "\(text)") { try CompactJWS(parsing: text.utf8) }
    }
    #expect(throws: JOSEError.invalidHeader) { try CompactJWS(parsing: "..".utf8) }
  }

  private func encode(_ text: String) -> String { Base64.encodeURLSafe(text.utf8) }

  private func sign(_ header: String, _ payload: String) throws -> String {
    try signed(header, payload, with: key, as: "ES256")
  }
}

/// A compact JWS of exactly this header, signed by the algorithm.
private func signed(_ header: String, _ payload: String, with key: PrivateKey, as name: String) throws
  -> String
{
  let input = Base64.encodeURLSafe(header.utf8) + "." + Base64.encodeURLSafe(payload.utf8)
  let hash = SignatureAlgorithm(joseName: name)?.hash
  let message = Array(input.utf8)
  let signature = try hash.map { try key.signECDSA(message, hash: $0) } ?? key.signEdDSA(message)
  return input + "." + Base64.encodeURLSafe(signature)
}
