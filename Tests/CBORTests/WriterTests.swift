import Base
import TestSupport
import Testing

@testable import CBOR

/// The writer makes shortest heads and definite lengths: hashes depend on it.
@Suite struct WriterTests {
  /// Arguments at every change of a head's width, with the head's bytes for major type 0.
  static let boundaries: [(UInt64, String)] = [
    (0, "00"), (1, "01"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"),
    (65_536, "1a00010000"), (0xffff_ffff, "1affffffff"), (0x1_0000_0000, "1b0000000100000000"),
    (.max, "1bffffffffffffffff"),
  ]

  @Test(arguments: boundaries)
  func writesTheShortestHeadOfIntegersAndTags(argument: UInt64, head: String) {
    #expect(Hex.encode(CBORValue.unsigned(argument).encoded()) == head)
    #expect(CBORValue.negative(argument).encoded() == withMajorType(1, head))
    #expect(CBORValue.tagged(argument, .null).encoded() == withMajorType(6, head) + [0xf6])
  }

  @Test(arguments: boundaries.filter { $0.0 <= Int.max })
  func writesTheShortestHeadOfStringsAndContainers(argument: UInt64, head: String) {
    let count = Int(argument)
    var output: [UInt8] = []
    CBORHead.appendBytes(count: count, to: &output)
    #expect(output == withMajorType(2, head))
    output = []
    CBORHead.appendArray(count: count, to: &output)
    #expect(output == withMajorType(4, head))
    guard count <= 65_536 else { return }
    #expect(CBORValue.bytes(.init(repeating: 1, count: count)).encoded().starts(with: withMajorType(2, head)))
    #expect(CBORValue.text(.init(repeating: "a", count: count)).encoded().starts(with: withMajorType(3, head)))
    #expect(CBORValue.array(.init(repeating: .null, count: count)).encoded().starts(with: withMajorType(4, head)))
    let entries = (0..<count).map { (key: CBORValue.unsigned(UInt64($0)), value: CBORValue.null) }
    #expect(CBORValue.map(entries).encoded().starts(with: withMajorType(5, head)))
  }

  @Test func writesIntegersOfEitherSign() {
    #expect(Hex.encode(CBORValue.integer(-1).encoded()) == "20")
    #expect(Hex.encode(CBORValue.integer(-24).encoded()) == "37")
    #expect(Hex.encode(CBORValue.integer(-25).encoded()) == "3818")
    #expect(Hex.encode(CBORValue.integer(.min).encoded()) == "3b7fffffffffffffff")
    #expect(Hex.encode(CBORValue.integer(.max).encoded()) == "1b7fffffffffffffff")
  }

  @Test func countsTheBytesOfTextAndNotItsCharacters() {
    #expect(Hex.encode(CBORValue.text("ü").encoded()) == "62c3bc")
    #expect(Hex.encode(CBORValue.text("🦊").encoded()) == "64f09fa68a")
  }

  @Test func keepsTheOrderOfEntriesAndSplicesWhatIsEncoded() {
    let value: CBORValue = ["b": 1, "a": .encoded(hex("b9000119000101")), "": [nil, true, false]]
    #expect(Hex.encode(value.encoded()) == "a3616201" + "6161b9000119000101" + "6083f6f5f4")
  }

  @Test func wrapsAnItemInTag24() throws {
    let value = CBORValue.embedded(["a": 1])
    #expect(Hex.encode(value.encoded()) == "d81844a1616101")
    #expect(try CBORItem(parsing: value.encoded()).embedded?[key: "a"]?.unsigned == 1)
  }

  @Test func writesNumbersWithAFractionInEightBytes() {
    #expect(Hex.encode(CBORValue.double(1.1).encoded()) == "fb3ff199999999999a")
    #expect(Hex.encode(CBORValue.double(-.infinity).encoded()) == "fbfff0000000000000")
  }

  @Test func writesAgainWhatItReadOfItsOwn() throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<2_000 {
      let written = randomValue(depth: 4, using: &generator).encoded()
      let item = try CBORItem(parsing: written)
      #expect(CBORValue(item)?.encoded() == written)
    }
  }

  private func withMajorType(_ type: UInt8, _ head: String) -> [UInt8] {
    var bytes = hex(head)
    bytes[0] |= type << 5
    return bytes
  }
}

/// Any value whose map keys differ.
func randomValue(depth: Int, using generator: inout SeededGenerator) -> CBORValue {
  let kinds = depth > 0 ? 10 : 6
  switch Int.random(in: 0..<kinds, using: &generator) {
  case 0: return .unsigned(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
  case 1: return .negative(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
  case 2: return .bytes(generator.bytes(Int.random(in: 0...40, using: &generator)))
  case 3: return .text(String(repeating: "aü🦊", count: Int.random(in: 0...12, using: &generator)))
  case 4: return [.null, .bool(true), .bool(false)][Int.random(in: 0..<3, using: &generator)]
  case 5: return .double(Double(Int64(truncatingIfNeeded: generator.next())))
  case 6:
    return .array(
      (0..<Int.random(in: 0...5, using: &generator)).map { _ in randomValue(depth: depth - 1, using: &generator) })
  case 7:
    return .map(
      (0..<Int.random(in: 0...12, using: &generator)).map {
        (key: .unsigned(UInt64($0 * 7)), value: randomValue(depth: depth - 1, using: &generator))
      })
  case 8: return .embedded(randomValue(depth: depth - 1, using: &generator))
  default:
    return .tagged(UInt64.random(in: 25...2000, using: &generator), randomValue(depth: depth - 1, using: &generator))
  }
}
