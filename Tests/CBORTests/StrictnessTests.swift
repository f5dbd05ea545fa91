import Base
import CBOR
import FoundationEssentials
import Testing

/// Input that libcbor accepts, or reads too slowly, and that must be refused.
@Suite struct StrictnessTests {
  @Test(arguments: [Sample.response, Sample.looselyEncoded])
  func callsEveryPrefixTruncatedAndNothingElse(input: [UInt8]) throws {
    #expect(refusal(input) == nil)
    let others = (0..<input.count).filter { refusal(Array(input[..<$0])) != .cborTruncated }
    #expect(others == [])
  }

  @Test(arguments: [
    "", "18", "1901", "1a010203", "1b01020304050607", "38", "41", "5801", "420a", "61", "62c3", "81", "820a", "a1",
    "a100", "a20001", "9f", "9f00", "bf", "bf00", "bf0001", "5f", "5f4100", "7f", "7f6161", "c1", "d8", "d818",
    "d81841",
    "f9", "f900", "fa000000", "fb00000000000000",
  ])
  func callsTruncatedWhatEndsTooEarly(text: String) {
    #expect(refusal(text) == .cborTruncated)
  }

  @Test(arguments: ["0000", "8000", "a000", "6000", "f6f6", "c10000", "9fff00", "9fffff", "5f4100ff00", "00ff"])
  func refusesBytesAfterTheOneItem(text: String) {
    #expect(refusal(text) == .cborTrailingBytes)
    #expect(refusal(Sample.response + [0x00]) == .cborTrailingBytes)
  }

  @Test func saysWhereTheTrailingBytesBegin() {
    #expect(throws: CBORError(.cborTrailingBytes, at: 3)) { try CBORItem(parsing: hex("820102 03")) }
    #expect(throws: CBORError(.cborTruncated, at: 3)) { try CBORItem(parsing: hex("82 1864 1901")) }
  }

  @Test(arguments: 0..<8 as Range<UInt8>)
  func refusesReservedHeads(majorType: UInt8) {
    for information: UInt8 in 28...30 {
      #expect(refusal([majorType << 5 | information]) == .cborMalformed)
      #expect(refusal([0x81, majorType << 5 | information, 0, 0, 0, 0, 0, 0, 0, 0]) == .cborMalformed)
    }
  }

  @Test(arguments: [
    // A break outside an indefinite length.
    "ff", "81ff", "8201ff", "a1ff00", "a101ff", "c1ff", "d818ff", "9f81ffff", "bf00a1ffff",
    // An indefinite map with a key and no value.
    "bf01ff", "bf010203ff", "bf9fffff",
    // Indefinite lengths of types that have none.
    "1f", "3f", "df", "1fff", "df00ff",
  ])
  func refusesBreaksThatEndNothing(text: String) {
    #expect(refusal(text) == .cborMalformed)
  }

  @Test(arguments: [
    "5f00ff", "5f6161ff", "5ff6ff", "5f80ff", "5fc24101ff", "5f5f4100ffff", "7f4161ff", "7f7f6161ffff", "7f6161f6ff",
    "5f41005f4100ffff",
  ])
  func refusesChunksThatAreNotDefiniteStringsOfTheSameType(text: String) {
    #expect(refusal(text) == .cborMalformed)
  }

  @Test func refusesUnassignedSimpleValues() {
    for simple: UInt8 in 0xe0...0xf3 { #expect(refusal([simple]) == .cborSimpleValueUnassigned) }
    for simple: UInt8 in 32...255 { #expect(refusal([0xf8, simple]) == .cborSimpleValueUnassigned) }
  }

  /// RFC 8949, 3.3: the two-byte form of a value below 32 is not well-formed.
  @Test func refusesSimpleValuesInTooLongAForm() {
    for simple: UInt8 in 0..<32 { #expect(refusal([0xf8, simple]) == .cborMalformed) }
    #expect(refusal([0xf8]) == .cborTruncated)
  }

  // MARK: UTF-8

  @Test(arguments: [
    "6180", "61ff", "61c3", "62c328", "62c080", "62c1bf", "63e08080", "63eda080", "63edbfbf", "64f0808080",
    "64f4908080", "64f5808080", "65f888808080", "63e28228", "6461c328 62", "64f09f92 41",
    // In a chunk, as a key, inside tag 24.
    "7f61ffff", "a161ff00", "d8184261ff",
    // A code point that is split across chunks: each chunk must be valid text.
    "7f61c361bcff", "7f62f09f62a68aff",
  ])
  func refusesTextThatIsNotUTF8(text: String) {
    #expect(refusal(text) == .cborInvalidUTF8)
  }

  @Test(arguments: ["6100", "62c3bc", "63ed9fbf", "63ee8080", "64f09fa68a", "64f48fbfbf", "63efbbbf", "7f62c3bc60ff"])
  func acceptsTextThatIs(text: String) {
    #expect(refusal(text) == nil)
  }

  /// Texts that Swift compares slowly (UAX #15, 13).
  @Test func refusesLongRunsOfCombiningMarks() {
    func text(_ marks: Int) -> [UInt8] { [0x61] + Array(repeatElement([0xcc, 0x81], count: marks).joined()) }
    func string(_ utf8: [UInt8]) -> [UInt8] { [0x78, UInt8(utf8.count)] + utf8 }
    #expect(refusal(string(text(30))) == nil)
    #expect(refusal(string(text(31))) == .cborInvalidUTF8)
    // A run goes on in the next chunk, and ends with a letter there.
    let marks = Array(text(20).dropFirst())
    #expect(refusal([0x7f] + string(text(20)) + [0x60] + string(marks) + [0xff]) == .cborInvalidUTF8)
    #expect(refusal([0x7f] + string(text(20)) + string([0x61]) + string(marks) + [0xff]) == nil)
    // Two strings are two texts, regardless of the items between them.
    #expect(refusal([0x82] + string(text(20)) + string(marks)) == nil)
    #expect(refusal([0x82, 0x7f] + string(text(20)) + [0xff, 0x7f] + string(marks) + [0xff]) == nil)
  }

  // MARK: Bounds

  /// Heads that wrap one item, each with its number of levels.
  @Test(arguments: [("81", 1), ("a100", 1), ("9f", 1), ("bf00", 1), ("c1", 1), ("da00000001", 1)])
  func refusesNestingBeyondTheLimitAndNotAtIt(head: String, levels: Int) {
    let isIndefinite = head == "9f" || head == "bf00"
    func nested(_ count: Int) -> [UInt8] {
      Array(repeatElement(hex(head), count: count).joined()) + [0x00]
        + [UInt8](repeating: 0xff, count: isIndefinite ? count : 0)
    }
    for depth in [1, 2, Limits.cborDepth] {
      let limits = CBORLimits(depth: depth)
      #expect(refusal(nested(depth), limits: limits) == nil)
      #expect(refusal(nested(depth + 1), limits: limits) == .cborNestingTooDeep)
    }
    #expect(refusal(nested(100_000)) == .cborNestingTooDeep)
    #expect(refusal(nested(100_000), limits: CBORLimits(items: 400_000, depth: 100_000)) == nil)
  }

  @Test func countsTagAndStringOfEmbeddedItemsAsLevels() {
    func nested(_ count: Int) -> [UInt8] {
      (0..<count).reduce(CBORValue.null) { value, _ in .embedded(value) }.encoded()
    }
    #expect(refusal(nested(Limits.cborDepth / 2)) == nil)
    #expect(refusal(nested(Limits.cborDepth / 2 + 1)) == .cborNestingTooDeep)
    #expect(refusal(nested(2), limits: CBORLimits(depth: 4)) == nil)
    #expect(refusal(nested(2), limits: CBORLimits(depth: 3)) == .cborNestingTooDeep)
  }

  @Test(arguments: [
    "9a7fffffff", "ba7fffffff", "5a7fffffff", "7a7fffffff", "9b0000000010000000", "bb0000000010000000",
    "9b4000000000000000", "bb4000000000000000", "5b4000000000000000", "7b4000000000000000", "9b8000000000000000",
    "bb8000000000000000", "9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff", "7bffffffffffffffff",
    "9a00100001", "ba00080001", "5a00100001", "7a00100001", "d818459a7fffffff", "819a7fffffff", "5f5a7fffffff",
    "9a7fffffff00000000", "5b40000000000000000000",
  ])
  func refusesClaimsThatNoInputCanMeetWithoutMakingRoomForThem(text: String) {
    let before = residentBytes()
    let clock = ContinuousClock()
    var code: Code?
    let spent = clock.measure { code = refusal(text) }
    #expect(code == .cborLengthExceedsInput)
    // Far below the time for allocating that memory, even on a busy machine.
    #expect(spent < .seconds(5))
    #expect(residentBytes() - before < 512 << 20)
  }

  @Test(arguments: ["9a00100000", "ba00080000", "5a00100000", "7a00100000", "98ff", "99ffff00", "b97fff00"])
  func callsClaimsTruncatedThatAnInputCouldMeet(text: String) {
    #expect(refusal(text) == .cborTruncated)
  }

  /// libcbor's tree builder takes half a gigabyte for these three kilobytes.
  @Test func makesNoRoomForNestedClaims() {
    let before = residentBytes()
    let input = Array(repeatElement(hex("99ffff"), count: 1000).joined())
    #expect(refusal(input, limits: CBORLimits(depth: 2000)) == .cborTruncated)
    #expect(residentBytes() - before < 512 << 20)
  }

  @Test func refusesMoreItemsThanTheLimitCountingThoseInsideStrings() {
    #expect(refusal("8401020304", limits: CBORLimits(items: 5)) == nil)
    #expect(refusal("850102030405", limits: CBORLimits(items: 5)) == .cborTooManyItems)
    #expect(refusal("9f0102030405ff", limits: CBORLimits(items: 5)) == .cborTooManyItems)
    // A tag, its string, an array and two elements.
    #expect(refusal("d81843820102", limits: CBORLimits(items: 5)) == nil)
    #expect(refusal("d81843820102", limits: CBORLimits(items: 4)) == .cborTooManyItems)
    // The same in two chunks, which are items themselves.
    #expect(refusal("d8185f4181420000ff") == .cborTrailingBytes)
    #expect(refusal("d8185f4182420102ff", limits: CBORLimits(items: 7)) == nil)
    #expect(refusal("d8185f4182420102ff", limits: CBORLimits(items: 6)) == .cborTooManyItems)
    #expect(refusal("82d8185f4182420102ff00", limits: CBORLimits(items: 9)) == nil)
    #expect(refusal("82d8185f4182420102ff00", limits: CBORLimits(items: 8)) == .cborTooManyItems)
    let million = [0x9a, 0x00, 0x0f, 0x42, 0x40] + [UInt8](repeating: 0, count: 1_000_000)
    #expect(refusal(million) == .cborTooManyItems)
  }

  @Test func refusesInputLargerThanTheLimit() {
    #expect(refusal("43010203", limits: CBORLimits(bytes: 4)) == nil)
    #expect(refusal("43010203", limits: CBORLimits(bytes: 3)) == .cborInputTooLarge)
    let large = CBORValue.bytes([UInt8](repeating: 0, count: Limits.responseBytes)).encoded()
    #expect(refusal(large) == .cborInputTooLarge)
  }

  private func residentBytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
  }
}
