import Primitives
import TestSupport
import Testing

@testable import Cryptography

/// With its table a key accepts and refuses exactly what it does without.
@Suite struct VerificationTableTests {
  /// FIPS 186-5 and SP 800-186, 3.2.1.3.
  private static let order: [UInt8] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
    0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
  ]

  /// The order less a number below it.
  private func negated(_ number: [UInt8]) -> [UInt8] {
    var difference = Self.order
    var borrow = 0
    for index in difference.indices.reversed() {
      let value = Int(Self.order[index]) - Int(number[index]) - borrow
      difference[index] = UInt8(value & 0xff)
      borrow = value < 0 ? 1 : 0
    }
    return difference
  }

  private func der(_ raw: [UInt8]) -> [UInt8] {
    raw.withUnsafeBufferPointer { raw in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DERSignature.longest) { der in
        Array(der[..<DERSignature.write(raw, to: der)])
      }
    }
  }

  /// Each signature of each set, in the form of certificates and in that of COSE.
  @Test(
    "every published signature is judged as without the table",
    .enabled(if: PublishedVectors.areHere, "published vectors are not here"),
    arguments: [
      ("ecdsa_secp256r1_sha256", HashAlgorithm.sha256, false), ("ecdsa_secp256r1_sha512", .sha512, false),
      ("ecdsa_secp256r1_sha256_p1363", .sha256, true), ("ecdsa_secp256r1_sha512_p1363", .sha512, true),
    ])
  func published(_ name: String, _ hash: HashAlgorithm, _ isRaw: Bool) throws {
    let groups = try JSON(parsing: PublishedVectors.bytes("wycheproof/\(name)_test.json"))["testGroups"]?.array ?? []
    var counts = (valid: 0, refused: 0)
    for group in groups {
      let point = try #require(group["publicKey"]?["uncompressed"]?.string.flatMap(Hex.decode))
      let key = try PublicKey(curve: .p256, encoded: point)
      let table = try #require(VerificationTable(key))
      for test in group["tests"]?.array ?? [] {
        let message = try #require(test["msg"]?.string.flatMap(Hex.decode))
        let signature = try #require(test["sig"]?.string.flatMap(Hex.decode))
        let isValid = isRaw ? signature.count == 64 && verifies(der(signature)) : verifies(signature)
        #expect(isValid == (test["result"]?.string == "valid"), "\(name) \(test["tcId"]?.integer ?? 0)")
        if isValid { counts.valid += 1 } else { counts.refused += 1 }

        func verifies(_ der: [UInt8]) -> Bool {
          der.withUnsafeBufferPointer { der in
            hash.hash(message).withUnsafeBufferPointer { table.verifies(der, of: $0) }
          }
        }
      }
    }
    #expect(counts.valid > 100 && counts.refused > 50, "\(counts)")
  }

  @Test("what is changed in a signature, a message or a key is refused with the table too") func changed() throws {
    let pair = try PrivateKey(generatingOn: .p256)
    let key = pair.publicKey
    key.makeTable()
    try #require(key.uses.table != nil)
    let message = Array("message".utf8)
    for hash in [HashAlgorithm.sha256, .sha384, .sha512] {
      let signature = try pair.signECDSA(message, hash: hash)
      #expect(key.verifyECDSA(signature, of: message, hash: hash))
      #expect(!key.verifyECDSA(signature, of: message + [0], hash: hash))
      for bit in 0..<(8 * signature.count) {
        var other = signature
        other[bit / 8] ^= 1 << (bit % 8)
        #expect(!key.verifyECDSA(other, of: message, hash: hash))
      }
    }
  }

  /// What no honest signature has: zero, the order and more for r and s.
  @Test("numbers at the edges are judged as without the table", arguments: [1, 2, 7] as [UInt8])
  func edges(scalar: UInt8) throws {
    let order = Self.order
    let zero = [UInt8](repeating: 0, count: 32)
    let pair = try PrivateKey(curve: .p256, scalar: zero.dropLast() + [scalar])
    let plain = try PublicKey(curve: .p256, encoded: pair.publicKey.encoded)
    let key = try PublicKey(curve: .p256, encoded: pair.publicKey.encoded)
    key.makeTable()
    try #require(key.uses.table != nil)
    let generator = try PrivateKey(curve: .p256, scalar: zero.dropLast() + [1]).publicKey
    let x = try Array(#require(generator.coordinates).x)
    let messages = (0..<8).map { [UInt8]([0x6d, $0]) }
    let digests = messages.map { HashAlgorithm.sha256.hash($0) }
    let one: [UInt8] = zero.dropLast() + [1]
    let last: [UInt8] = order.dropLast() + [order[31] - 1]
    let above: [UInt8] = order.dropLast() + [order[31] + 1]
    let full = [UInt8](repeating: 0xff, count: 32)
    for (message, digest) in zip(messages, digests) {
      let numbers: [[UInt8]] = [zero, one, last, order, above, full, x, digest]
      for r in numbers {
        for s in numbers {
          let verdict = plain.verifyECDSA(r + s, of: message, hash: .sha256)
          #expect(key.verifyECDSA(r + s, of: message, hash: .sha256) == verdict)
        }
      }
      let signature = try pair.signECDSA(message, hash: .sha256)
      #expect(key.verifyECDSA(signature, of: message, hash: .sha256))
    }
  }

  /// With the key G and the digest e, u1·G + u2·G is (e + r)/s·G: for e = r and s = 2r it is G, the sum of a point and
  /// itself; for e = -r it is infinity.
  @Test("a sum of a point with itself counts, one of a point with its negative does not") func sums() throws {
    let key = try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0, count: 31) + [1]).publicKey
    let r = try Array(#require(key.coordinates).x)
    try #require(r[0] < 0x80, "twice r is below the order")
    let twice: [UInt8] = zip(r, r.dropFirst() + [0]).map { $0 << 1 | $1 >> 7 }
    let der = der(r + twice)
    let table = try #require(VerificationTable(key))
    for (digest, isValid) in [(r, true), (negated(r), false), (twice, false)] {
      digest.withUnsafeBufferPointer { digest in
        der.withUnsafeBufferPointer { der in
          #expect(key.verifyECDSA(der: der, ofDigest: digest) == isValid)
          #expect(table.verifies(der, of: digest) == isValid)
        }
      }
    }
  }

  @Test("a key gets its table by use, others verify meanwhile, and there are not more than so many") func byUse()
    async throws
  {
    let pair = try PrivateKey(generatingOn: .p256)
    let message = Array("message".utf8)
    let signature = try pair.signECDSA(message, hash: .sha256)
    let key = pair.publicKey
    for _ in 1..<VerificationUses.enough {
      #expect(key.verifyECDSA(signature, of: message, hash: .sha256))
    }
    #expect(key.uses.table == nil)
    while key.uses.table == nil {
      #expect(key.verifyECDSA(signature, of: message, hash: .sha256))
      await Task.yield()
    }
    #expect(key.verifyECDSA(signature, of: message, hash: .sha256))
    // Other tests may hold some.
    var tables: [VerificationTable] = []
    while let table = VerificationTable(key) { tables.append(table) }
    #expect(tables.count < VerificationTable.largestNumber)
    tables = []
    #expect(VerificationTable(key) != nil)
  }

  @Test("keys on other curves have none", arguments: Curve.allCases.filter { $0 != .p256 })
  func otherCurves(curve: Curve) throws {
    #expect(VerificationTable(try PrivateKey(generatingOn: curve).publicKey) == nil)
  }
}
