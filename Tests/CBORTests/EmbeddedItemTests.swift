import Base
import CBOR
import Testing

/// Tag 24: a byte string that holds one item.
@Suite struct EmbeddedItemTests {
  @Test(arguments: [
    // Empty, cut short, or followed by more.
    ("d81840", Code.cborTruncated), ("d8184118", .cborTruncated), ("d8184161", .cborTruncated),
    ("d818428201", .cborTruncated),
    ("d818420000", .cborTrailingBytes), ("d818438001f6", .cborTrailingBytes), ("d81843010203", .cborTrailingBytes),
    // Not CBOR.
    ("d81841ff", .cborMalformed), ("d818411c", .cborMalformed), ("d8184261ff", .cborInvalidUTF8),
    ("d81843810002", .cborTrailingBytes),
    // The inner item may not reach into the bytes that follow the string.
    ("82d81841189f", .cborTruncated), ("82d818429f00ff", .cborTruncated), ("82d818418100", .cborTruncated),
    // The same in chunks.
    ("d8185fff", .cborTruncated), ("d8185f40ff", .cborTruncated), ("d8185f4118ff", .cborTruncated),
    ("d8185f41004100ff", .cborTrailingBytes), ("d8185f41ffff", .cborMalformed), ("d8185f416141ffff", .cborInvalidUTF8),
  ])
  func refusesContentThatIsNotOneItem(text: String, code: Code) {
    #expect(refusal(text) == code)
  }

  @Test(arguments: ["d8186161", "d81800", "d818f6", "d8188100", "d818d8184100", "d8187f6161ff", "d818a0"])
  func hasNoEmbeddedItemWhereTheContentIsNoByteString(text: String) throws {
    let item = try CBORItem(parsing: hex(text))
    #expect(item.tag == 24)
    #expect(item.embedded == nil)
  }

  @Test(arguments: ["c24100", "d8194100", "c241ff", "41ff", "d9181841ff"])
  func doesNotParseBytesUnderOtherTags(text: String) throws {
    #expect(try CBORItem(parsing: hex(text)).embedded == nil)
  }

  @Test(arguments: [
    "d81843820a0b", "da000000185803820a0b", "db00000000000000185a00000003820a0b", "d8185f43820a0bff",
    "d8185f4182420a0bff", "d8185f40418258020a0b40ff",
  ])
  func givesTheItemInsideHoweverItIsWrapped(text: String) throws {
    let item = try CBORItem(parsing: hex(text))
    let inner = try #require(item.embedded)
    #expect(inner.elements?.compactMap(\.unsigned) == [10, 11])
    #expect(Array(inner.encoded) == hex("820a0b"))
    #expect(item.content(ofTag: 24)?.bytes.map(Array.init) == hex("820a0b"))
    #expect(Array(item.encoded) == hex(text))
  }

  @Test func keepsItemsInChunksInsideItemsInChunks() throws {
    // 24(<<24(<<"hi">>)>>), every string in chunks.
    let inner = hex("d8185f 4162 426869 ff")
    let outer = hex("d8185f") + [0x42] + inner[..<2] + [0x40 + UInt8(inner.count - 2)] + inner[2...] + [0xff]
    let item = try CBORItem(parsing: outer)
    #expect(item.embedded?.embedded?.text == "hi")
    #expect(refusal(outer, limits: CBORLimits(depth: 4)) == nil)
    #expect(refusal(outer, limits: CBORLimits(depth: 3)) == .cborNestingTooDeep)
    var broken = outer
    broken[broken.count - 3] = 0xff
    #expect(refusal(broken) == .cborInvalidUTF8)
  }

  @Test func parsesAByteStringOnDemandAtItsOwnOffsets() throws {
    let item = try CBORItem(parsing: hex("82 43820102 5f41814105ff"))
    let strings = Array(try #require(item.elements))
    let plain = try CBORItem(parsingContentOf: strings[0])
    #expect(plain.startOffset == 2)
    #expect(Array(plain.encoded) == hex("820102"))
    #expect(plain.elements?.compactMap(\.unsigned) == [1, 2])
    #expect(try CBORItem(parsingContentOf: strings[1]).elements?.compactMap(\.unsigned) == [5])
    #expect(throws: CBORError(.cborMalformed, at: 0)) { try CBORItem(parsingContentOf: item) }
    let bad = try CBORItem(parsing: hex("81 420000"))
    let string = try #require(bad.elements?.first { _ in true })
    #expect(throws: CBORError(.cborTrailingBytes, at: 3)) { try CBORItem(parsingContentOf: string) }
  }
}
