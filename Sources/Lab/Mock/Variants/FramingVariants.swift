import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Answers that are not right CBOR (RFC 8949).
  @MockVariantList static var framing: [MockVariant] {
    MockVariant(
      "cbor-nested-arrays", "An unknown member of the DeviceResponse is 100,000 arrays deep.", cases: "C01",
      codes: [.cborNestingTooDeep], .response { $0.fields["x"] = .nestedArrays(100_000) })
    MockVariant(
      "cbor-nested-element", "A requested element's value is 100 arrays deep.", cases: "C01",
      codes: [.cborNestingTooDeep], element(.nestedArrays(100)))
    MockVariant(
      "cbor-nested-tags", "An unknown member of the DeviceResponse is 1,000 tags deep.", cases: "C11",
      codes: [.cborNestingTooDeep],
      .response { $0.fields["x"] = .encoded([UInt8](repeating: 0xc1, count: 1_000) + [0x00]) })
    MockVariant(
      "cbor-huge-array", "An array claims 2^62 elements.", cases: "C02", codes: [.cborLengthExceedsInput],
      .response { $0.fields["x"] = .raw(0x9b, 0x40, 0, 0, 0, 0, 0, 0, 0) })
    MockVariant(
      "cbor-huge-map", "A map claims 2^62 entries.", cases: "C02", codes: [.cborLengthExceedsInput],
      .response { $0.fields["x"] = .raw(0xbb, 0x40, 0, 0, 0, 0, 0, 0, 0) })
    MockVariant(
      "cbor-huge-bytes", "A byte string claims 2^62 bytes.", cases: "C02", codes: [.cborLengthExceedsInput],
      .response { $0.fields["x"] = .raw(0x5b, 0x40, 0, 0, 0, 0, 0, 0, 0) })
    MockVariant(
      "cbor-trailing-after-response", "A byte follows the DeviceResponse.", cases: "C03", codes: [.cborTrailingBytes],
      .responseBytes { $0.append(0x00) })
    MockVariant(
      "cbor-trailing-after-item", "A byte follows an IssuerSignedItem inside its tag 24.", cases: "C03",
      codes: [.cborTrailingBytes],
      .items { try $0.changeTarget { item in item.changeContent = { $0 + [0x00] } } })
    MockVariant(
      "cbor-trailing-after-mso", "A byte follows the MSO inside its tag 24; both are signed.", cases: "C03",
      codes: [.cborTrailingBytes],
      .issuerAuth { $0.setPayload(.tagged(24, .bytes($0.content.value.encoded() + [0x00]))) })
    MockVariant(
      "cbor-trailing-after-payload", "A byte follows the MSO's tag 24 in the signed payload.", cases: "C03",
      codes: [.cborTrailingBytes],
      .issuerAuth { $0.setPayload(.encoded(CBORValue.embedded($0.content.value).encoded() + [0x00])) })
    MockVariant(
      "cbor-duplicate-status", "The DeviceResponse has `status` twice.", cases: "C04", codes: [.cborDuplicateKey],
      .response { $0.fields.duplicate("status") })
    MockVariant(
      "cbor-duplicate-documents", "The DeviceResponse has `documents` twice.", cases: "C04",
      codes: [.cborDuplicateKey], .response { $0.fields.duplicate("documents") })
    MockVariant(
      "cbor-duplicate-mso-key", "The signed MSO has `docType` twice, with two values.", cases: "C04",
      codes: [.cborDuplicateKey], .mso { $0.duplicate("docType", value: "org.example.other.1") })
    MockVariant(
      "cbor-duplicate-protected-header", "The issuer's protected header has its algorithm twice.", cases: "C04",
      codes: [.cborDuplicateKey], .issuerAuth { $0.protected.duplicate(1) })
    MockVariant(
      "cbor-duplicate-unprotected-header", "The issuer's unprotected header has its x5chain twice.", cases: "C04",
      codes: [.cborDuplicateKey], .issuerAuth { $0.unprotected.duplicate(33) })
    MockVariant(
      "cbor-duplicate-item-key", "A signed item has `elementValue` twice, with two values.", cases: "C04",
      codes: [.cborDuplicateKey],
      .items { try $0.changeTarget { $0.fields.duplicate("elementValue", value: "another") } })
    MockVariant(
      "cbor-truncated-response", "The DeviceResponse's last byte is missing.", cases: "C05", codes: [.cborTruncated],
      .responseBytes { $0.removeLast() })
    MockVariant(
      "cbor-truncated-item", "An item's last byte is missing inside its tag 24.", cases: "C05",
      codes: [.cborTruncated], .items { try $0.changeTarget { item in item.changeContent = { $0.dropLast() } } })
    MockVariant(
      "cbor-invalid-utf8", "An element's text is not UTF-8.", cases: "C06", codes: [.cborInvalidUTF8],
      element(.raw(0x62, 0xc3, 0x28)))
    MockVariant(
      "cbor-reserved-info", "An element's head has the reserved additional information 28.", cases: "C07",
      codes: [.cborMalformed], element(.raw(0x1c)))
    MockVariant(
      "cbor-simple-unassigned", "An element is the simple value 16, which has no meaning.", cases: "C07",
      codes: [.cborSimpleValueUnassigned], element(.raw(0xf0)))
    MockVariant(
      "cbor-stray-break", "A break stands where an element's value should.", cases: "C07", codes: [.cborMalformed],
      element(.raw(0xff)))
    MockVariant(
      "cbor-odd-map", "An element is a map of indefinite length with a key and no value.", cases: "C07",
      codes: [.cborMalformed], element(.raw(0xbf, 0x01, 0xff)))
    MockVariant(
      "cbor-too-many-items", "An unknown member of the DeviceResponse has 70,000 numbers.", cases: "C08",
      codes: [.cborTooManyItems],
      .response { $0.fields["x"] = .array([CBORValue](repeating: 0, count: 70_000)) })
    MockVariant(
      "cbor-too-large", "An unknown member of the DeviceResponse has a megabyte.", cases: "C08",
      codes: [.cborInputTooLarge], .response { $0.fields["x"] = .bytes(.zeros(Limits.responseBytes)) })
    MockVariant(
      "response-status-float", "The status is 0.0.", cases: "C09", codes: [.responseMalformed],
      .response { $0.fields["status"] = .double(0) })
    MockVariant(
      "response-status-nan", "The status is not a number.", cases: "C09", codes: [.responseMalformed],
      .response { $0.fields["status"] = .double(.nan) })
    MockVariant(
      "response-status-bignum", "The status is a bignum.", cases: "C09", codes: [.responseMalformed],
      .response { $0.fields["status"] = .tagged(2, .bytes([0])) })
    MockVariant(
      "item-digest-id-float", "An item's digestID is a floating-point number.", cases: "C09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = .double(Double($0.digestID)) } })
    MockVariant(
      "item-digest-id-bignum", "An item's digestID is a bignum.", cases: "C09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = .tagged(2, .bytes([UInt8($0.digestID & 0xff)])) } })
    MockVariant(
      "item-not-tag24-map", "An item is a bare map.", cases: "C10", codes: [.itemNotTag24],
      .disclosure { try $0.changeTarget { $0.presented = $0.fields.value } })
    MockVariant(
      "item-not-tag24-bytes", "An item is a byte string without its tag.", cases: "C10", codes: [.itemNotTag24],
      .disclosure { try $0.changeTarget { $0.presented = .bytes($0.fields.value.encoded()) } })
    MockVariant(
      "item-tag24-text", "An item's tag 24 holds text.", cases: "C10", codes: [.itemNotTag24],
      .disclosure { try $0.changeTarget { $0.presented = .tagged(24, .text("item")) } })
    MockVariant(
      "cbor-shared-reference", "The documents stand under the shared-value tag 28.", cases: "C12",
      codes: [.cborTagUnsupported],
      .response { $0.fields["documents"] = .tagged(28, $0.fields["documents"] ?? .null) })
    MockVariant(
      "cbor-string-reference", "The document's type is a string reference (tag 25).", cases: "C12",
      codes: [.cborTagUnsupported], .document { $0["docType"] = .tagged(25, 0) })
  }

  /// Gives a requested element this value, which the issuer digests and signs.
  static func element(_ value: CBORValue) -> MockMutation {
    .setup { $0.data[$0.anyRequested.namespace, $0.anyRequested.identifier] = value }
  }
}

extension COSESign1Draft {
  /// Sets the payload, both the signed one and the one in the structure.
  mutating func setPayload(_ value: CBORValue) {
    payload = value.encoded()
    presentedPayload = .bytes(payload)
  }
}

extension MockVariant {
  /// Answers at the limits of a parser, and further abuse of it (RFC 8949, 5 and 10).
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
  /// Nested byte strings under tag 24. Each has indefinite length and one chunk, which holds the next. The innermost
  /// holds zeros.
  fileprivate static func chunks(_ depth: Int, around zeros: Int) -> CBORValue {
    let innermost = CBORValue.bytes([UInt8](repeating: 0, count: zeros)).encoded()
    return .encoded(
      (0..<depth).reduce(innermost) { content, _ in [0xd8, 0x18, 0x5f] + CBORValue.bytes(content).encoded() + [0xff] })
  }
}
