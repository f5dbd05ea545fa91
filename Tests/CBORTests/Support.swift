import Base
import CBOR

/// The bytes of hexadecimal text in a test.
func hex(_ text: String) -> [UInt8] {
  guard let bytes = Hex.decode(text) else { preconditionFailure("a test's own text is hexadecimal: \(text)") }
  return bytes
}

/// The reason for refusing the input; nil if it is accepted.
func refusal(_ bytes: [UInt8], limits: CBORLimits = CBORLimits()) -> Code? {
  do {
    _ = try CBORItem(parsing: bytes, limits: limits)
    return nil
  } catch {
    return error.code
  }
}

func refusal(_ text: String, limits: CBORLimits = CBORLimits()) -> Code? { refusal(hex(text), limits: limits) }

/// A document as wallets send it: nested maps, tag 24 with items inside, dates, byte strings, signatures.
enum Sample {
  static let response: [UInt8] = {
    let items: [CBORValue] = [
      item(0, "family_name", "Mustermann"), item(1, "given_name", "Zoë ☂ 🦊"),
      item(2, "birth_date", .tagged(1004, "1998-09-04")), item(3, "age_over_18", true),
      item(4, "portrait", .bytes([UInt8](repeating: 0xd8, count: 300))),
      item(
        5, "driving_privileges",
        [["vehicle_category_code": "B", "expiry_date": .tagged(1004, "2030-01-01"), "codes": []], [:]]),
    ]
    let signature: CBORValue = [.bytes([0xa1, 0x01, 0x26]), [:], nil, .bytes([UInt8](repeating: 7, count: 64))]
    let issuerSigned: CBORValue = ["nameSpaces": ["org.iso.18013.5.1": .array(items)], "issuerAuth": signature]
    let deviceSigned: CBORValue = ["nameSpaces": .embedded([:]), "deviceAuth": ["deviceSignature": signature]]
    let document: CBORValue = [
      "docType": "org.iso.18013.5.1.mDL", "issuerSigned": issuerSigned, "deviceSigned": deviceSigned,
    ]
    let response: CBORValue = ["version": "1.0", "documents": [document], "status": 0, "score": .double(-0.5)]
    return response.encoded()
  }()

  /// The same kinds of items in every form except the shortest: long heads, chunks, indefinite lengths.
  static let looselyEncoded: [UInt8] = hex(
    """
    b9 0006  78 01 61  9f 1b 0000000000000001  38 00  ff
             7f 61 62 60 ff  bf 19 0001 02 ff
             1a 00000003  5f 41 01 58 02 0203 ff
             20  da 00000018 59 0003 82 f4 f6
             f9 3c00  d8 18 5f 41 81 41 f7 ff
             80  fb 4000000000000000
    """)

  private static func item(_ digestID: UInt64, _ name: String, _ value: CBORValue) -> CBORValue {
    .embedded([
      "digestID": .unsigned(digestID), "random": .bytes([UInt8](repeating: UInt8(digestID), count: 32)),
      "elementIdentifier": .text(name), "elementValue": value,
    ])
  }
}
