import Base
import CBOR
import Longfellow

/// One ZkDocument of a DeviceResponse (ISO/IEC 18013-5, second edition), as received.
struct ZkDocument: Sendable {
  let docType: String
  /// `zkSystemId`: by which of the offered circuits it is proven.
  let label: String
  /// The text of the time at which the document is shown to be valid, as it enters the proof.
  let timestamp: String
  let time: Timestamp
  let elements: [Element]
  /// Whether the wallet adds elements of the device, which no circuit proves.
  let hasDeviceElements: Bool
  /// DER certificates, the document signer first.
  let chain: [ArraySlice<UInt8>]
  let proof: ArraySlice<UInt8>

  /// The circuit that the label names, of our own table. Google Wallet names it by its hash in place of the label.
  var circuit: KnownCircuit? {
    KnownCircuit.all.first { label.hasSameBytes(as: $0.label) || label.hasSameBytes(as: $0.hash) }
  }

  struct Element: Sendable {
    let reference: ElementReference
    let value: CBORItem
  }

  /// The type that an item claims, which may be malformed otherwise; nil if it claims none.
  static func docType(of item: CBORItem) -> String? { item[key: "documentData"]?.embedded?[key: "docType"]?.text }

  /// Whether a member is ignored that no standard names. What cannot be read at all is refused elsewhere.
  static func leavesUnread(_ item: CBORItem) -> Bool {
    StructureParser.leavesUnread(item, but: "documentData", "proof")
      || StructureParser.leavesUnread(
        item[key: "documentData"]?.embedded, but: "docType", "zkSystemId", "timestamp", "issuerSigned",
        "deviceSigned", "msoX5chain")
  }

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .zkDocumentMalformed)
    _ = try reader.entries(item, "the proof's document")
    proof = try reader.bytes(reader.member("proof", of: item), "proof")
    do throws(MdocParseError) {
      let data = try reader.embedded(reader.member("documentData", of: item), "documentData")
      _ = try reader.entries(data, ": it")
      docType = try reader.text("docType", of: data)
      label = try reader.text("zkSystemId", of: data)
      (timestamp, time) = try Self.timestamp(reader.member("timestamp", of: data))
      elements = try Self.elements(reader.member("issuerSigned", of: data), "issuerSigned", reader)
      let device = data[key: "deviceSigned"]
      hasDeviceElements =
        if let device { try !Self.elements(device, "deviceSigned", reader).isEmpty } else { false }
      chain = try Self.chain(reader.member("msoX5chain", of: data), reader)
    } catch {
      throw error.inside("documentData")
    }
  }

  /// The time is tag 0 with 20 characters: the circuits compare them one by one with those of the validity, so no other
  /// spelling can be proven.
  private static func timestamp(_ item: CBORItem) throws(MdocParseError) -> (String, Timestamp) {
    guard let text = item.content(ofTag: 0)?.text, text.utf8.count == 20, let time = Timestamp(rfc3339: text) else {
      throw MdocParseError(.zkTimestampMalformed, "timestamp is no date and time of 20 characters with tag 0")
    }
    return (text, time)
  }

  /// `{NameSpace: [{"elementIdentifier", "elementValue"}]}`.
  private static func elements(
    _ map: CBORItem, _ member: String, _ reader: StructureParser
  ) throws(MdocParseError) -> [Element] {
    var elements: [Element] = []
    for (name, items) in try reader.entries(map, member) {
      let namespace = try reader.text(name, "a name in \(member)")
      let items = Array(try reader.elements(items, "what stands under a name in \(member)"))
      guard !items.isEmpty else { throw reader.fault("what stands under a name in \(member)", "empty") }
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

  /// One certificate is a bare byte string, several are an array (RFC 9360, 2). An array of one is read as well, as in
  /// issuerAuth.
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

/// What a ZkDocument says of itself, without the values of its elements. None of it is verified.
package struct ZkDocumentOutline: Sendable {
  package let docType, label, timestamp: String
  /// The circuit that the label names; nil for one that is not known.
  package let circuit: KnownCircuit?
  package let elements: [ElementReference]
  /// DER certificates, the document signer first.
  package let chain: [[UInt8]]
  package let proofBytes: Int

  /// - Throws: what is malformed.
  package init(parsing item: CBORItem) throws(MdocParseError) {
    let document = try ZkDocument(parsing: item)
    docType = document.docType
    label = document.label
    timestamp = document.timestamp
    circuit = document.circuit
    elements = document.elements.map(\.reference)
    chain = document.chain.map { Array($0) }
    proofBytes = document.proof.count
  }
}
