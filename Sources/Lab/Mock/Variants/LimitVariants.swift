import Base
import CBOR

extension MockVariant {
  /// Answers at the edge of what a parser takes, and further abuse of it (RFC 8949, 5 and 10).
  @MockVariantList static var limits: [MockVariant] {
    MockVariant(
      "cbor-huge-text", "A text string claims 2^62 bytes.", cases: "C02", codes: [.cborLengthExceedsInput],
      .response { $0.fields["x"] = .raw(0x7b, 0x40, 0, 0, 0, 0, 0, 0, 0) })
    for information: UInt8 in [29, 30] {
      MockVariant(
        "cbor-reserved-info-\(information)",
        "An element's head has the reserved additional information \(information).", cases: "C07",
        codes: [.cborMalformed], element(.raw(information)))
    }
    MockVariant(
      "item-digest-id-nan", "An item's digestID is not a number.", cases: "C09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = .double(.nan) } })
    MockVariant(
      "cbor-nested-embedded", "An unknown member of the DeviceResponse is 100 byte strings deep, each under tag 24.",
      cases: "C11", codes: [.cborNestingTooDeep],
      .response { $0.fields["x"] = (0..<100).reduce(0) { value, _ in .embedded(value) } })
    MockVariant(
      "cbor-nested-chunks", "An unknown member of the DeviceResponse is 40 byte strings in chunks deep, under tag 24.",
      cases: "C11", codes: [.cborNestingTooDeep], .response { $0.fields["x"] = .chunks(40, around: 900_000) })
    MockVariant(
      "cbor-shared-reference-use", "The documents are a reference to a shared value (tag 29).", cases: "C12",
      codes: [.cborTagUnsupported], .response { $0.fields["documents"] = .tagged(29, 0) })
    MockVariant(
      "cbor-string-namespace", "The document's type stands in a namespace of string references (tag 256).",
      cases: "C12", codes: [.cborTagUnsupported],
      .document { $0["docType"] = .tagged(256, $0["docType"] ?? .null) })
    MockVariant(
      "issuer-auth-many-parameters", "Each of the issuer's headers has 300 parameters that nobody knows.",
      codes: [.issuerAuthMalformed],
      .issuerAuth { draft in
        for label in 0..<300 {
          draft.protected[-70_000 - label] = 0
          draft.unprotected[-80_000 - label] = 0
        }
      })
    MockVariant(
      "cbor-many-items", "An unknown member of the DeviceResponse has 60,000 numbers, fewer than too many.",
      cases: "C08", .response { $0.fields["x"] = .array([CBORValue](repeating: 0, count: 60_000)) })
    MockVariant(
      "cbor-large", "An unknown member of the DeviceResponse has a million bytes, fewer than too many.", cases: "C08",
      .response { $0.fields["x"] = .bytes(.zeros(1_000_000)) })
    MockVariant(
      "cbor-deep-chunks", "An unknown member is ten byte strings in chunks deep, under tag 24, fewer than too deep.",
      cases: "C11", .response { $0.fields["x"] = .chunks(10, around: 900_000) })
  }
}

extension CBORValue {
  /// Byte strings under tag 24, each in one chunk of indefinite length and each holding the next; zeros innermost.
  fileprivate static func chunks(_ depth: Int, around zeros: Int) -> CBORValue {
    let innermost = CBORValue.bytes([UInt8](repeating: 0, count: zeros)).encoded()
    return .encoded(
      (0..<depth).reduce(innermost) { content, _ in [0xd8, 0x18, 0x5f] + CBORValue.bytes(content).encoded() + [0xff] })
  }
}
