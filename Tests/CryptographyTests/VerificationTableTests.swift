import Base
import COpenSSL
import TestSupport
import Testing

@testable import Cryptography

/// With its table, a key accepts and refuses exactly the same signatures as without.
@Suite struct VerificationTableTests {
  /// FIPS 186-5 and SP 800-186, 3.2.1.3.
  private static let order: [UInt8] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
    0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
  ]

  /// The sum of two numbers below the order, below it as well.
  private func added(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    let complement = subtracted(right, from: Self.order)
    return left.lexicographicallyPrecedes(complement)
      ? subtracted(subtracted(left, from: complement), from: Self.order) : subtracted(complement, from: left)
  }

  private func subtracted(_ number: [UInt8], from larger: [UInt8]) -> [UInt8] {
    var difference = larger
    var borrow = 0
    for index in difference.indices.reversed() {
      let value = Int(larger[index]) - Int(number[index]) - borrow
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
            hash.hash(message).withUnsafeBufferPointer { table.verifies(der: der, of: $0) }
          }
        }
      }
    }
    #expect(counts.valid > 100 && counts.refused > 50, "\(counts)")
  }

  private func verifies(
    _ raw: [UInt8], _ digest: [UInt8], _ verify: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    der(raw).withUnsafeBufferPointer { der in digest.withUnsafeBufferPointer { verify(der, $0) } }
  }

  /// By the table, which must agree with the key without a table.
  private func isValid(_ raw: [UInt8], _ digest: [UInt8], _ key: PublicKey, _ table: VerificationTable) -> Bool {
    let verdict = verifies(raw, digest) { table.verifies(der: $0, of: $1) }
    let direct = raw.withUnsafeBufferPointer { raw in
      digest.withUnsafeBufferPointer { table.verifies(raw, of: $0) }
    }
    #expect(direct == verdict)
    #expect(verifies(raw, digest) { key.verifyECDSA(der: $0, ofDigest: $1) } == verdict)
    return verdict
  }

  @Test("what is changed in a signature or a message is refused") func changed() throws {
    let pair = try PrivateKey(generatingOn: .p256)
    let key = pair.publicKey
    let table = try #require(VerificationTable(key))
    let message = Array("message".utf8)
    for hash in [HashAlgorithm.sha256, .sha384, .sha512] {
      let signature = try pair.signECDSA(message, hash: hash)
      #expect(isValid(signature, hash.hash(message), key, table))
      #expect(!isValid(signature, hash.hash(message + [0]), key, table))
      for bit in 0..<(8 * signature.count) {
        var other = signature
        other[bit / 8] ^= 1 << (bit % 8)
        #expect(!isValid(other, hash.hash(message), key, table))
      }
    }
  }

  /// Values of no honest signature: zero, the order and more for r, s and the digest; and r = s = x(Q), which for the
  /// digest zero, and the order, is a signature of Q's: the sum is Q.
  @Test("numbers at the edges are judged as without the table", arguments: [1, 2, 7] as [UInt8])
  func edges(scalar: UInt8) throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let one: [UInt8] = zero.dropLast() + [1]
    let last: [UInt8] = Self.order.dropLast() + [Self.order[31] - 1]
    let above: [UInt8] = Self.order.dropLast() + [Self.order[31] + 1]
    let full = [UInt8](repeating: 0xff, count: 32)
    let key = try PrivateKey(curve: .p256, scalar: zero.dropLast() + [scalar]).publicKey
    let table = try #require(VerificationTable(key))
    let x = try Array(#require(key.coordinates).x)
    let numbers = [zero, one, last, Self.order, above, full, x]
    var accepted: Set<[[UInt8]]> = []
    for digest in numbers {
      for r in numbers {
        for s in numbers where isValid(r + s, digest, key, table) { accepted.insert([digest, r, s]) }
      }
    }
    #expect(accepted.isSuperset(of: [[zero, x, x], [Self.order, x, x]]))
    #expect(accepted.count < 10)
  }

  /// With the key d·G and the digest e, u1·G + u2·Q is (e + d·r)/s·G: for r = x(G), e = d·r and s = 2·d·r it is G, the
  /// sum of a point with itself; for e = -d·r it is infinity. OpenSSL has a table for G already, so d = 1 proves less.
  @Test("a sum of a point with itself counts, one of a point with its negative does not", arguments: [1, 7])
  func sums(d: Int) throws {
    let scalar = [UInt8](repeating: 0, count: 31)
    let r = try Array(#require(PrivateKey(curve: .p256, scalar: scalar + [1]).publicKey.coordinates).x)
    let key = try PrivateKey(curve: .p256, scalar: scalar + [UInt8(d)]).publicKey
    let table = try #require(VerificationTable(key))
    let product = (1..<d).reduce(r) { sum, _ in added(sum, r) }
    let signature = r + added(product, product)
    #expect(isValid(signature, product, key, table))
    #expect(!isValid(signature, subtracted(product, from: Self.order), key, table))
    #expect(!isValid(signature, added(product, product), key, table))
  }

  @Test("a signer's key gets its table by good signatures, and a slot that another has left", .timeLimit(.minutes(10)))
  func byUse() async throws {
    let message = Array("message".utf8)
    let digest = HashAlgorithm.sha256.hash(message)
    let time = Locked<Int64>(0)
    let tables = VerificationTables(slots: 1) { time.withLock { $0 } }
    func use(_ pair: PrivateKey, _ key: PublicKey, times: Int) throws {
      let signature = try pair.signECDSA(message, hash: .sha256)
      for _ in 0..<times {
        #expect(verifies(signature, digest) { key.verifyECDSA(der: $0, ofDigest: $1, tables: tables) })
      }
    }
    let pairs = try (0..<3).map { _ in try PrivateKey(generatingOn: .p256) }
    let keys = try pairs.map { try PublicKey(curve: .p256, encoded: $0.publicKey.encoded) }
    try use(pairs[2], keys[2], times: 2 * VerificationTables.enough)
    keys[2].expectReuse()
    let foreign = try pairs[0].signECDSA(message, hash: .sha256)
    for _ in 0..<2 * VerificationTables.enough {
      #expect(!verifies(foreign, digest) { keys[2].verifyECDSA(der: $0, ofDigest: $1, tables: tables) })
    }
    keys[0].expectReuse()
    keys[1].expectReuse()
    try use(pairs[0], keys[0], times: VerificationTables.enough - 1)
    #expect(tables.table(of: keys[0]) == nil)
    try use(pairs[0], keys[0], times: 1)
    while tables.table(of: keys[0]) == nil { try use(pairs[0], keys[0], times: 1) }
    // Of another certificate with the same point.
    let same = try PublicKey(curve: .p256, encoded: keys[0].encoded)
    #expect(tables.table(of: same) != nil)
    try use(pairs[1], keys[1], times: 2 * VerificationTables.enough)
    #expect(tables.table(of: keys[1]) == nil && tables.table(of: keys[2]) == nil)
    time.withLock { $0 += VerificationTables.idle }
    while tables.table(of: keys[1]) == nil { try use(pairs[1], keys[1], times: 1) }
    #expect(tables.table(of: keys[0]) == nil)
  }

  @Test("configured keys get tables at once, as many as there are slots, until they are configured no longer")
  func prepared() async throws {
    let message = Array("message".utf8)
    let digest = HashAlgorithm.sha256.hash(message)
    let tables = VerificationTables(slots: 2)
    let pairs = try (0..<4).map { _ in try PrivateKey(generatingOn: .p256) }
    let keys = pairs.map(\.publicKey)
    for key in keys { key.expectReuse() }
    tables.prepare([try PrivateKey(generatingOn: .p384).publicKey, keys[0], keys[1], keys[2]])
    while tables.table(of: keys[0]) == nil || tables.table(of: keys[1]) == nil {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(tables.table(of: keys[2]) == nil)
    for index in 0..<3 {
      let signature = try pairs[index].signECDSA(message, hash: .sha256)
      for (other, key) in keys.enumerated() {
        #expect(
          verifies(signature, digest) { key.verifyECDSA(der: $0, ofDigest: $1, tables: tables) } == (other == index))
      }
    }
    let made = try #require(tables.table(of: keys[1]))
    tables.prepare([keys[1], keys[3]])
    #expect(tables.table(of: keys[0]) == nil && tables.table(of: keys[1]) === made)
    while tables.table(of: keys[3]) == nil { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test("division by a number of any size is multiplication by its inverse")
  func division() throws {
    let context = try #require(BN_CTX_new())
    defer { BN_CTX_free(context) }
    let group = try #require(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
    defer { EC_GROUP_free(group) }
    let order = try #require(EC_GROUP_get0_order(group))
    let montgomery = try #require(EC_GROUP_get_mont_data(group))
    let inverse = try #require(PublicInverse(modulus: order, montgomery: montgomery))
    #expect(try PublicInverse(modulus: #require(BN_value_one()), montgomery: montgomery) == nil)
    var numbers: [OpaquePointer?] = []
    defer { for number in numbers { BN_free(number) } }
    for bit in 0..<256 as Range<Int32> {
      for addend in [0, 1] as [UInt] {
        let power = BN_new()
        numbers.append(power)
        #expect(BN_set_bit(power, bit) == 1 && BN_add_word(power, addend) == 1)
        guard BN_ucmp(power, order) < 0 else { continue }
        let difference = BN_new()
        numbers.append(difference)
        #expect(BN_sub(difference, order, power) == 1)
      }
    }
    for _ in 0..<2_000 {
      let random = BN_new()
      numbers.append(random)
      #expect(BN_rand_range(random, order) == 1)
    }
    for case let number? in numbers where BN_is_zero(number) == 0 && BN_ucmp(number, order) < 0 {
      let divisor = try #require(BN_new())
      let expected = try #require(BN_mod_inverse(nil, number, order, context))
      defer {
        BN_free(divisor)
        BN_free(expected)
      }
      #expect(inverse.set(divisor, dividingBy: number, context))
      #expect(BN_from_montgomery(divisor, divisor, montgomery, context) == 1 && BN_ucmp(divisor, expected) == 0)
    }
  }

  @Test("keys on other curves have none", arguments: Curve.allCases.filter { $0 != .p256 })
  func otherCurves(curve: Curve) throws {
    #expect(VerificationTable(try PrivateKey(generatingOn: curve).publicKey) == nil)
  }
}
