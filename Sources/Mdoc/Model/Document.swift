import CBOR
import Primitives

/// One Document of a DeviceResponse. Its parts that must be authenticated are kept as received; what is wrong with
/// them is found, and named, by the verifier.
struct Document: Sendable {
  let docType: String
  /// Nil where the wallet left it out.
  let issuerAuth: CBORItem?
  let issuerSigned: [IssuerSignedNamespace]
  /// Nil where the wallet left it out.
  let deviceSigned: DeviceSigned?

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureReader(code: .responseMalformed)
    _ = try reader.entries(item)
    docType = try reader.text(reader.member("docType", of: item))
    let issuerSigned = try reader.member("issuerSigned", of: item)
    _ = try reader.entries(issuerSigned)
    issuerAuth = issuerSigned[key: "issuerAuth"]
    var namespaces: [IssuerSignedNamespace] = []
    if let map = issuerSigned[key: "nameSpaces"] {
      for (name, items) in try reader.entries(map) {
        namespaces.append(try IssuerSignedNamespace(name: reader.text(name), parsing: items))
      }
    }
    self.issuerSigned = namespaces
    deviceSigned = try item[key: "deviceSigned"].map(DeviceSigned.init(parsing:))
  }
}

/// The items that the issuer signed in one namespace.
struct IssuerSignedNamespace: Sendable {
  let name: String
  let items: [IssuerSignedItem]

  init(name: String, parsing list: CBORItem) throws(MdocParseError) {
    self.name = name
    var items: [IssuerSignedItem] = []
    for item in try StructureReader(code: .responseMalformed).elements(list) {
      items.append(try IssuerSignedItem(parsing: item))
    }
    self.items = items
  }
}

/// An IssuerSignedItem with the bytes that its digest covers (ISO/IEC 18013-5:2021, 9.1.2.5).
struct IssuerSignedItem: Sendable {
  /// The whole `#6.24(bstr …)`, as received.
  let digestInput: ArraySlice<UInt8>
  let digestID: UInt64
  let randomLength: Int
  let identifier: String
  let value: CBORItem

  init(parsing tagged: CBORItem) throws(MdocParseError) {
    guard let item = tagged.embedded else { throw MdocParseError(.itemNotTag24) }
    let reader = StructureReader(code: .itemMalformed)
    digestInput = tagged.encoded
    // One pass over the map: there are many items, and four look-ups in each add up.
    var digestID: CBORItem?
    var random: CBORItem?
    var identifier: CBORItem?
    var value: CBORItem?
    for entry in try reader.entries(item) {
      if entry.key.isText("digestID") {
        digestID = entry.value
      } else if entry.key.isText("random") {
        random = entry.value
      } else if entry.key.isText("elementIdentifier") {
        identifier = entry.value
      } else if entry.key.isText("elementValue") {
        value = entry.value
      }
    }
    guard let digestID, let random, let identifier, let value else { throw MdocParseError(.itemMalformed) }
    self.digestID = try reader.unsigned(digestID)
    randomLength = try reader.bytes(random).count
    self.identifier = try reader.text(identifier)
    self.value = value
    guard self.digestID < 1 << 31 else { throw MdocParseError(.itemMalformed) }
  }
}

/// DeviceSigned (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct DeviceSigned: Sendable {
  struct Element: Sendable {
    let reference: ElementReference
    let value: CBORItem
  }

  /// DeviceNameSpacesBytes as received: part of what the device signed.
  let nameSpacesBytes: ArraySlice<UInt8>
  let elements: [Element]
  let deviceSignature: CBORItem?
  let deviceMac: CBORItem?

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureReader(code: .responseMalformed)
    _ = try reader.entries(item)
    let nameSpaces = try reader.member("nameSpaces", of: item)
    nameSpacesBytes = nameSpaces.encoded
    var elements: [Element] = []
    for (namespace, values) in try reader.entries(reader.embedded(nameSpaces)) {
      let name = try reader.text(namespace)
      for (identifier, value) in try reader.entries(values) {
        elements.append(Element(reference: ElementReference(name, try reader.text(identifier)), value: value))
      }
    }
    self.elements = elements
    let deviceAuth = item[key: "deviceAuth"]
    if let deviceAuth { _ = try reader.entries(deviceAuth) }
    deviceSignature = deviceAuth?[key: "deviceSignature"]
    deviceMac = deviceAuth?[key: "deviceMac"]
  }
}
