import Base
import CBOR
import COSE
import Cryptography
import Testing

/// COSE_Key (RFC 9053, 7): public keys of the table, and nothing else.
@Suite struct KeyTests {
  @Test(arguments: Curve.allCases)
  func aWrittenKeyIsReadBack(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    #expect(try read(COSEKey.encode(key)) == key)
  }

  @Test(arguments: Curve.allCases.filter { $0.family == .weierstrass })
  func aCompressedKeyIsTheSameKey(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let isOdd = key.encoded.last.map { $0 & 1 == 1 } ?? false
    #expect(try read(changing(key) { $0[-3] = .bool(isOdd) }) == key)
    #expect(try read(changing(key) { $0[-3] = .bool(!isOdd) }) != key)
  }

  @Test func unknownMembersAreIgnored() throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    let changed = changing(key) {
      $0[2] = .bytes([1])
      $0[5] = .bytes([2])
    }
    #expect(try read(changed) == key)
  }

  /// A key's stated use, and whether it may then verify ES256 and agree on a secret.
  static let uses: [(members: [Int64: CBORValue], verifies: Bool, agrees: Bool)] = [
    ([:], true, true), ([3: -7], true, false), ([3: -35], false, false), ([3: -9], false, false),
    ([3: -25], false, true), ([3: -27], false, true), ([3: -31], false, false), ([3: 5], false, false),
    ([3: "ES256"], false, false), ([4: [2]], true, false), ([4: [1]], false, false), ([4: [1, 2]], true, false),
    ([4: []], false, true), ([4: [7]], false, true), ([4: [8]], false, true), ([4: ["verify"]], false, false),
    ([3: -7, 4: [2]], true, false), ([3: -7, 4: [1]], false, false), ([3: -25, 4: [2]], false, false),
  ]

  @Test(arguments: uses)
  func `alg and key_ops say what a key is for`(members: [Int64: CBORValue], verifies: Bool, agrees: Bool) throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    let item = try CBORItem(parsing: changing(key) { $0.merge(members) { $1 } }.encoded())
    let es256 = try #require(SignatureAlgorithm(coseIdentifier: -7))
    #expect((try COSEKey(item).objection(to: es256) == nil) == verifies)
    #expect((COSEKey.agreementKey(from: item) != nil) == agrees)
  }

  @Test(arguments: [[3: .null], [3: .bytes([1])], [4: 2], [4: .null], [4: [:]]] as [[Int64: CBORValue]])
  func `An alg or key_ops of another type makes no key`(members: [Int64: CBORValue]) throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    #expect(throws: COSEKeyError.malformedUse) { try read(changing(key) { $0.merge(members) { $1 } }) }
  }

  @Test func `A signature by a key for another algorithm is none of its own, and says why`() throws {
    let key = try PrivateKey(generatingOn: .p256)
    let signed = try COSESign1.sign(detached: [1], key: key, certificates: [[2]])
    let message = try COSESign1(parsing: CBORItem(parsing: signed.encoded()))
    let item = try CBORItem(parsing: changing(key.publicKey) { $0[3] = -35 }.encoded())
    #expect(message.verify(payload: [1], key: key.publicKey) == .valid)
    #expect(
      try message.objection(to: COSEKey(item)) == "the key is for ES384 (alg, label 3), but the signature says ES256")
  }

  static let wrongMembers: [(String, [Int64: CBORValue?])] = [
    ("a private part", [-4: .bytes([1])]), ("a private part of another type", [-4: .null]), ("no type", [1: nil]),
    ("type OKP", [1: 1]), ("type symmetric", [1: 4]), ("a text type", [1: "EC2"]), ("no curve", [-1: nil]),
    ("secp256k1", [-1: 8]), ("a text curve", [-1: "P-256"]), ("curve P-384", [-1: 2]), ("curve Ed25519", [-1: 6]),
    ("a curve of the same size", [-1: 256]), ("no x", [-2: nil]), ("x as text", [-2: "x"]), ("no y", [-3: nil]),
    ("y null", [-3: .null]), ("y a number", [-3: 1]),
  ]

  @Test(arguments: wrongMembers)
  func aKeyThatIsNotWhatItSaysIsRefused(name: String, changes: [Int64: CBORValue?]) throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    let changed = changing(key) { for (label, value) in changes { $0[label] = value } }
    #expect(throws: COSEKeyError.self, "\(name)") { try read(changed) }
  }

  /// The device key printed in ISO/IEC 18013-5, D.7.2 is off its curve, as this one is.
  @Test(arguments: Curve.allCases.filter { $0.family == .weierstrass })
  func aPointOffTheCurveIsRefused(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    var y = Array(try #require(key.coordinates?.y))
    y[y.count - 1] ^= 1
    #expect(throws: COSEKeyError.self) { try read(changing(key) { $0[-3] = .bytes(y) }) }
  }

  /// On P-256 there is no point with this x: neither sign of y makes one.
  @Test func anXWithoutPointIsRefused() throws {
    let key = try PrivateKey(generatingOn: .p256).publicKey
    var refused = 0
    for last in UInt8(0)..<32 {
      let x = [UInt8](repeating: 0, count: 31) + [last]
      let isPoint =
        (try? read(
          changing(key) {
            $0[-2] = .bytes(x); $0[-3] = .bool(true)
          })) != nil
      if !isPoint { refused += 1 }
    }
    #expect((8...24).contains(refused), "half of all x belong to points")
  }

  @Test(arguments: Curve.allCases)
  func coordinatesAreAsLongAsTheField(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let x = key.coordinates.map { Array($0.x) } ?? key.encoded
    for wrong in [[0] + x, Array(x.dropFirst()), Array(x.dropLast()), x + [0], []] {
      #expect(throws: COSEKeyError.self) { try read(changing(key) { $0[-2] = .bytes(wrong) }) }
    }
    guard let y = key.coordinates.map({ Array($0.y) }) else { return }
    for wrong in [[0] + y, Array(y.dropFirst()), []] {
      #expect(throws: COSEKeyError.self) { try read(changing(key) { $0[-3] = .bytes(wrong) }) }
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family == .weierstrass })
  func infinityIsNoKey(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let zeros = CBORValue.bytes([UInt8](repeating: 0, count: curve.coordinateLength))
    #expect(throws: COSEKeyError.self) {
      try read(
        changing(key) {
          $0[-2] = zeros; $0[-3] = zeros
        })
    }
    let ones = CBORValue.bytes([UInt8](repeating: 0xff, count: curve.coordinateLength))
    #expect(throws: COSEKeyError.self) { try read(changing(key) { $0[-2] = ones }) }
  }

  @Test func onlyAMapIsAKey() {
    for value in [CBORValue.null, [], .bytes([]), 1, .tagged(24, .bytes([0xa0]))] {
      #expect(throws: COSEKeyError.self) { try read(value) }
    }
  }

  private func read(_ value: CBORValue) throws -> PublicKey {
    try COSEKey(CBORItem(parsing: value.encoded())).key
  }

  private func changing(_ key: PublicKey, _ change: (inout [Int64: CBORValue]) -> Void) -> CBORValue {
    var members: [Int64: CBORValue] = [1: key.coordinates == nil ? 1 : 2, -2: .bytes(key.encoded)]
    if let (x, y) = key.coordinates {
      members[-2] = .bytes(Array(x))
      members[-3] = .bytes(Array(y))
    }
    if case .map(let entries) = COSEKey.encode(key) { members[-1] = entries.count > 1 ? entries[1].value : .null }
    change(&members)
    return .map(members.sorted { $0.key < $1.key }.map { (.integer($0.key), $0.value) })
  }
}
