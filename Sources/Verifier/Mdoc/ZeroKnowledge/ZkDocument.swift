import Base
import CBOR
import Longfellow

/// One ZkDocument of a DeviceResponse (ISO/IEC 18013-5, second edition), as received. It is unverified. Its elements'
/// values cannot be read outside this module.
package struct ZkDocument: Sendable {
  package let docType: String
  /// `zkSystemId`, which should be the label of an offered circuit.
  package let label: String
  /// The time at which the document is shown to be valid, as the text in the proof's statement.
  package let timestamp: String
  let time: Timestamp
  package let elements: [Element]
  /// Whether the wallet adds device-signed elements, which no circuit proves.
  let hasDeviceElements: Bool
  /// DER certificates, the document signer first.
  package let chain: [ArraySlice<UInt8>]
  package let proof: ArraySlice<UInt8>

  /// The known circuit with this label; nil for any other label. Google Wallet uses the circuit's hash as the
  /// label.
  package var circuit: KnownCircuit? {
    KnownCircuit.all.first { label.hasSameBytes(as: $0.label) || label.hasSameBytes(as: $0.hash) }
  }

  package struct Element: Sendable {
    package let reference: ElementReference
    let value: CBORItem
  }

  /// The type that an item claims, even if it is otherwise malformed; nil if it claims none.
  static func docType(of item: CBORItem) -> String? { item[key: "documentData"]?.embedded?[key: "docType"]?.text }

  /// Whether the item has a member that no standard defines. Unreadable items are rejected elsewhere.
  static func leavesUnread(_ item: CBORItem) -> Bool {
    StructureParser.leavesUnread(item, but: "documentData", "proof")
      || StructureParser.leavesUnread(
        item[key: "documentData"]?.embedded, but: "docType", "zkSystemId", "timestamp", "issuerSigned",
        "deviceSigned", "msoX5chain")
  }

  package init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .zkDocumentMalformed)
    _ = try reader.entries(item, "the proof's document")
    let proof = try reader.bytes("proof", of: item)
    let data = try reader.embedded(reader.member("documentData", of: item), "documentData")
    self = try reader.inside("documentData") { () throws(MdocParseError) in
      try ZkDocument(data: data, proof: proof, reader)
    }
  }

  private init(data: CBORItem, proof: ArraySlice<UInt8>, _ reader: StructureParser) throws(MdocParseError) {
    self.proof = proof
    _ = try reader.entries(data, ": it")
    docType = try reader.text("docType", of: data)
    label = try reader.text("zkSystemId", of: data)
    (timestamp, time) = try Self.timestamp(reader.member("timestamp", of: data))
    elements = try Self.elements(reader.member("issuerSigned", of: data), "issuerSigned", reader)
    let device = data[key: "deviceSigned"]
    hasDeviceElements = if let device { try !Self.elements(device, "deviceSigned", reader).isEmpty } else { false }
    chain = try Self.chain(reader.member("msoX5chain", of: data), reader)
  }

  /// The time must be tag 0 with 20 characters, since the circuits compare it with the validity character by character.
  private static func timestamp(_ item: CBORItem) throws(MdocParseError) -> (String, Timestamp) {
    guard let text = item.content(ofTag: 0)?.text, text.utf8.count == 20, let time = Timestamp(rfc3339: text) else {
      throw MdocParseError(.zkTimestampMalformed, "timestamp is not a date and time of 20 characters with tag 0")
    }
    return (text, time)
  }

  /// `{NameSpace: [{"elementIdentifier", "elementValue"}]}`.
  private static func elements(
    _ map: CBORItem, _ member: String, _ reader: StructureParser
  ) throws(MdocParseError) -> [Element] {
    var elements: [Element] = []
    for (name, items) in try reader.entries(map, member) {
      let namespace = try reader.text(name, "a namespace in \(member)")
      let items = Array(try reader.elements(items, "the content of a namespace in \(member)"))
      guard !items.isEmpty else { throw reader.fault("the content of a namespace in \(member)", "empty") }
      for item in items {
        _ = try reader.entries(item, "an element of \(member)")
        elements.append(
          Element(
            reference: ElementReference(namespace, try reader.text("elementIdentifier", of: item)),
            value: try reader.member("elementValue", of: item)))
      }
    }
    return elements
  }

  /// One certificate is a bare byte string; several are an array (RFC 9360, 2). An array with one certificate is
  /// accepted too.
  private static func chain(_ item: CBORItem, _ reader: StructureParser) throws(MdocParseError) -> [ArraySlice<UInt8>] {
    if let certificate = item.bytes { return [certificate] }
    var chain: [ArraySlice<UInt8>] = []
    for certificate in try reader.elements(item, "msoX5chain") {
      chain.append(try reader.bytes(certificate, "a certificate of msoX5chain"))
    }
    guard !chain.isEmpty else { throw reader.fault("msoX5chain", "empty") }
    return chain
  }
}
