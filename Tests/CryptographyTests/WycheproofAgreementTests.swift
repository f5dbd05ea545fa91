import Cryptography
import Primitives
import TestSupport
import Testing

@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct WycheproofAgreementTests {
  struct Group: Decodable {
    struct Test: Decodable {
      let tcId: Int
      let flags: [String]
      let `public`, shared: HexBytes
      let `private`: String
      let result: Verdict
    }
    let tests: [Test]
  }

  @Test(arguments: [("secp256r1", Curve.p256), ("secp384r1", .p384), ("secp521r1", .p521)])
  func agreesWithPoints(name: String, curve: Curve) throws {
    var tally = Tally("ecdh_\(name)_ecpoint")
    let vectors = try Wycheproof<Group>(tally.name)
    for test in vectors.testGroups.flatMap(\.tests) {
      let secret = agree(curve, privateKey: test.private, point: test.public.bytes)
      tally.note(test.tcId, test.result, output: secret, right: test.shared.bytes)
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == vectors.numberOfTests)
  }

  /// SPKI is PKIX's to parse: here a key counts where its bytes are exactly the DER of a named curve and a point, and is
  /// unsupported where they are anything else (other curves, explicit parameters, BER).
  @Test(arguments: [
    ("secp256r1", Curve.p256, "06082a8648ce3d030107"), ("secp384r1", .p384, "06052b81040022"),
    ("secp521r1", .p521, "06052b81040023"), ("brainpoolP256r1", .brainpoolP256r1, "06092b2403030208010107"),
    ("brainpoolP320r1", .brainpoolP320r1, "06092b2403030208010109"),
    ("brainpoolP384r1", .brainpoolP384r1, "06092b240303020801010b"),
    ("brainpoolP512r1", .brainpoolP512r1, "06092b240303020801010d"),
  ])
  func agreesWithPublicKeysInSPKI(name: String, curve: Curve, oid: String) throws {
    var tally = Tally("ecdh_\(name)")
    let vectors = try Wycheproof<Group>(tally.name)
    let oid = try #require(Hex.decode(oid))
    for test in vectors.testGroups.flatMap(\.tests) {
      if let point = point(in: test.public.bytes, curveIdentifier: oid) {
        let secret = agree(curve, privateKey: test.private, point: point)
        tally.note(test.tcId, test.result, output: secret, right: test.shared.bytes)
      } else {
        tally.noteUnsupported()
        #expect(test.result != .valid)
      }
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.total == vectors.numberOfTests)
  }

  @Test(arguments: [("x25519", Curve.x25519), ("x448", .x448)])
  func agreesOnMontgomeryCurvesAndRefusesAnAllZeroSecret(name: String, curve: Curve) throws {
    var tally = Tally(name)
    let vectors = try Wycheproof<Group>(name)
    for test in vectors.testGroups.flatMap(\.tests) {
      let scalar = try #require(Hex.decode(test.private))
      let privateKey = try PrivateKey(curve: curve, scalar: scalar)
      let secret = (try? PublicKey(curve: curve, encoded: test.public.bytes)).flatMap { peer in
        try? privateKey.sharedSecret(with: peer).exposed()
      }
      tally.note(test.tcId, test.result, output: secret, right: test.shared.bytes)
      let isZero = test.shared.bytes.allSatisfy { $0 == 0 }
      #expect((secret == nil) == isZero, "all that agree on something but zero is accepted, \(test.tcId)")
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == vectors.numberOfTests)
  }

  /// The secret, or nil where the point is refused. Compressed points go the way of COSE keys, by x and a sign bit.
  private func agree(_ curve: Curve, privateKey: String, point: [UInt8]) -> [UInt8]? {
    do {
      let peer: PublicKey
      if point.first == 2 || point.first == 3 {
        peer = try PublicKey(curve: curve, x: point.dropFirst(), yIsOdd: point.first == 3)
      } else {
        peer = try PublicKey(curve: curve, encoded: point)
      }
      let scalar = Hex.decode(privateKey.count % 2 == 0 ? privateKey : "0" + privateKey) ?? []
      let digits = Array(scalar.drop { $0 == 0 })
      let padded = [UInt8](repeating: 0, count: max(0, curve.coordinateLength - digits.count)) + digits
      return try PrivateKey(curve: curve, scalar: padded).sharedSecret(with: peer).exposed()
    } catch {
      return nil
    }
  }

  /// The point of `SEQUENCE { SEQUENCE { ecPublicKey, curve }, BIT STRING point }` in DER.
  private func point(in spki: [UInt8], curveIdentifier: [UInt8]) -> [UInt8]? {
    let algorithm = sequence([0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] + curveIdentifier)
    // The lengths of the two forms of a point do not overlap, so each is tried at the end of the bytes.
    for length in stride(from: 1, to: min(spki.count, 140), by: 1) {
      let point = Array(spki.suffix(length))
      guard [2, 3, 4].contains(point[0]) else { continue }
      if sequence(algorithm + [0x03] + derLength(length + 1) + [0x00] + point) == spki { return point }
    }
    return nil
  }

  private func sequence(_ content: [UInt8]) -> [UInt8] { [0x30] + derLength(content.count) + content }

  private func derLength(_ length: Int) -> [UInt8] { length < 128 ? [UInt8(length)] : [0x81, UInt8(length)] }
}
