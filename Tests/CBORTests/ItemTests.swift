import Base
import TestSupport
import Testing

@testable import CBOR

/// Items are views of the bytes as received.
@Suite struct ItemTests {
  /// The decoder reads heads with an argument below 2^16 itself, and libcbor reads all longer heads.
  @Test("a head of any length gives the same item", arguments: 0...6 as ClosedRange<UInt8>)
  func headLengths(major: UInt8) throws {
    for argument in [0, 1, 23, 24, 25, 31, 32, 100, 255, 256, 257, 1_000] as [UInt64] {
      let content: [UInt8] =
        switch major {
        case 2, 3: [UInt8](repeating: 0x61, count: Int(argument))
        case 4: [UInt8](repeating: 0x01, count: Int(argument))
        case 5: (0..<argument).flatMap { [0x19, UInt8($0 >> 8), UInt8($0 & 0xff), 0xf6] }
        case 6: [0x41, 0x00]
        default: []
        }
      let lengths = [0, 1, 2, 4, 8].filter { $0 == 0 ? argument < 24 : $0 > 1 || argument < 256 }
      let items = try lengths.map { length in
        let head = (0..<length).map { UInt8(truncatingIfNeeded: argument >> (8 * UInt64(length - 1 - $0))) }
        let first = UInt8(length == 0 ? argument : 23 + UInt64(length.trailingZeroBitCount + 1))
        let bytes = [major << 5 | first] + head + content
        #expect(bytes.count < 2 || refusal(Array(bytes.dropLast())) == .cborTruncated)
        #expect(refusal(bytes + [0]) == .cborTrailingBytes)
        return try CBORItem(parsing: bytes)
      }
      for item in items {
        #expect(item.kind == items[0].kind && item.node.value == items[0].node.value)
        #expect(
          item.content.elementsEqual(items[0].content)
            && item.children.elementsEqual(items[0].children) {
              $0.encoded == $1.encoded
            })
      }
    }
  }

  @Test func givesTheBytesOfEveryItemAsTheyCame() throws {
    let item = try CBORItem(parsing: Sample.looselyEncoded)
    #expect(Array(item.encoded) == Sample.looselyEncoded)
    let entries = Array(try #require(item.entries))
    let expected: [(String, String)] = [
      ("780161", "9f1b00000000000000013800ff"), ("7f616260ff", "bf19000102ff"), ("1a00000003", "5f410158020203ff"),
      ("20", "da0000001859000382f4f6"), ("f93c00", "d8185f418141f7ff"), ("80", "fb4000000000000000"),
    ]
    #expect(entries.count == expected.count)
    for (entry, (key, value)) in zip(entries, expected) {
      #expect(Hex.encode(entry.key.encoded) == key)
      #expect(Hex.encode(entry.value.encoded) == value)
      #expect(entry.key.encoded.startIndex == entry.key.startOffset)
    }
    let embedded = try #require(entries[3].value.embedded)
    #expect(Hex.encode(embedded.encoded) == "82f4f6")
    #expect(embedded.elements?.map { Hex.encode($0.encoded) } == ["f4", "f6"])
    #expect(item[key: "a"]?.elements?.compactMap(\.integer) == [1, -1])
    #expect(item[key: "b"]?[label: 1]?.integer == 2)
    #expect(item[label: 3]?.bytes.map(Array.init) == [1, 2, 3])
    #expect(item[label: -1]?.tag == 24)
    #expect(item[key: "c"] == nil)
    #expect(item[label: 4] == nil)
  }

  /// Every item of a document, in place: its bytes are those at its offset, and parse to the same item.
  @Test(arguments: [Sample.response, Sample.looselyEncoded])
  func findsEveryNestedItemInTheInput(input: [UInt8]) throws {
    var count = 0
    try CBORItem(parsing: input).forEachInside { item in
      count += 1
      let alone = try? CBORItem(parsing: Array(item.encoded))
      #expect(alone?.kind == item.kind)
      #expect(alone.map { Array($0.encoded) } == Array(item.encoded))
      #expect(alone.flatMap { CBORValue($0)?.encoded() } == CBORValue(item)?.encoded())
    }
    #expect(count > 15)
  }

  @Test func readsIntegersOfBothSignsToTheEndsOfTheirRange() throws {
    func integer(_ text: String) throws -> Int64? { try CBORItem(parsing: hex(text)).integer }
    #expect(try integer("1b7fffffffffffffff") == .max)
    #expect(try integer("1b8000000000000000") == nil)
    #expect(try integer("3b7fffffffffffffff") == .min)
    #expect(try integer("3b8000000000000000") == nil)
    #expect(try integer("3bffffffffffffffff") == nil)
    #expect(try integer("6130") == nil)
    #expect(try CBORItem(parsing: hex("1bffffffffffffffff")).unsigned == .max)
    #expect(try CBORItem(parsing: hex("3bffffffffffffffff")).negativeArgument == .max)
    #expect(try CBORItem(parsing: hex("a13bffffffffffffffff01"))[label: .min] == nil)
    #expect(try CBORItem(parsing: hex("a13b7fffffffffffffff01"))[label: .min]?.integer == 1)
  }

  @Test func comparesTextByteByByte() throws {
    let item = try CBORItem(parsing: hex("62c3bc"))
    #expect(item.isText("ü"))
    #expect(!item.isText("u\u{308}"), "canonically equivalent text is other text")
    #expect(!item.isText(""))
    #expect(!item.isText("üü"))
    #expect(try !CBORItem(parsing: hex("42c3bc")).isText("ü"))
    #expect(try CBORItem(parsing: hex("7f62c3bc6161ff")).isText("üa"))
    #expect(try CBORItem(parsing: hex("60")).isText(""))
  }

  @Test func givesNothingOfAnotherKind() throws {
    let item = try CBORItem(parsing: hex("01"))
    #expect(item.text == nil)
    #expect(item.bytes == nil)
    #expect(item.bool == nil)
    #expect(item.double == nil)
    #expect(item.count == nil)
    #expect(item.elements == nil)
    #expect(item.entries == nil)
    #expect(item.tag == nil)
    #expect(item.content(ofTag: 1) == nil)
    #expect(item.negativeArgument == nil)
    #expect(!item.isNull)
    #expect(item[key: "a"] == nil)
    #expect(try CBORItem(parsing: hex("c101")).content(ofTag: 2) == nil)
    #expect(try CBORItem(parsing: hex("c101")).content(ofTag: 1)?.unsigned == 1)
  }

  @Test func countsElementsAndEntries() throws {
    func count(_ text: String) throws -> Int? { try CBORItem(parsing: hex(text)).count }
    #expect(try count("80") == 0)
    #expect(try count("9fff") == 0)
    #expect(try count("8281808100") == 2)
    #expect(try count("9f81809f00ffff") == 2)
    #expect(try count("a0") == 0)
    #expect(try count("bfff") == 0)
    #expect(try count("a201800281a0") == 2)
    #expect(try count("bf0180029fa0ffff") == 2)
  }
}

extension CBORItem {
  /// Visits this item and all items inside it, including those in tag 24.
  func forEachInside(_ visit: (CBORItem) -> Void) {
    visit(self)
    if let elements { for element in elements { element.forEachInside(visit) } }
    if let entries {
      for entry in entries {
        entry.key.forEachInside(visit)
        entry.value.forEachInside(visit)
      }
    }
    if let tag, let content = content(ofTag: tag) { content.forEachInside(visit) }
    embedded?.forEachInside(visit)
  }
}
