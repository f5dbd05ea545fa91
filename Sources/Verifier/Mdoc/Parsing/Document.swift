import Base
import CBOR

/// One Document of a DeviceResponse. Parts that must be authenticated are kept as received; the verifier finds and
/// names their faults.
struct Document: Sendable {
  let docType: String
  /// Nil if the wallet left it out.
  let issuerAuth: CBORItem?
  let issuerSigned: [IssuerSignedNamespace]
  /// Nil if the wallet left it out.
  let deviceSigned: DeviceSigned?
  /// The slips that were read past (`Slip`), each with its member.
  let slips: [String]
  /// Whether a member is ignored that no standard names, in the document or in one of its items.
  let leavesUnread: Bool

  init(parsing item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .responseMalformed)
    var slips: [String] = []
    _ = try reader.entries(item, ": the document")
    docType = try reader.text("docType", of: item)
    let issuerSigned = try reader.member("issuerSigned", of: item)
    _ = try reader.entries(issuerSigned, "issuerSigned")
    issuerAuth = issuerSigned[key: "issuerAuth"]
    var slipsOfIssuer: [String] = []
    let nameSpaces = Slip.member("nameSpaces", of: issuerSigned, into: &slipsOfIssuer)
    Slip.noteFields(of: issuerAuth, "issuerAuth", isDetached: false, into: &slipsOfIssuer)
    slips += slipsOfIssuer.map { "issuerSigned.\($0)" }
    self.issuerSigned = try nameSpaces.map(Self.namespaces) ?? []
    deviceSigned = try item[key: "deviceSigned"].map(DeviceSigned.init(parsing:))
    slips += deviceSigned?.slips.map { "deviceSigned.\($0)" } ?? []
    // `errors` says what the wallet could not return. Nobody signs it, and it is not read; only its slips are noted.
    Slip.noteIfEmpty("errors", Slip.member("errors", of: item, into: &slips), into: &slips)
    self.slips = slips
    leavesUnread =
      StructureParser.leavesUnread(item, but: "docType", "issuerSigned", "deviceSigned", "errors")
      || StructureParser.leavesUnread(issuerSigned, but: "nameSpaces", "issuerAuth")
      || StructureParser.leavesUnread(item[key: "deviceSigned"], but: "nameSpaces", "deviceAuth")
      || StructureParser.leavesUnread(
        item[key: "deviceSigned"]?[key: "deviceAuth"], but: "deviceSignature", "deviceMac")
      || self.issuerSigned.contains { $0.items.contains(where: \.leavesUnread) }
  }

  private static func namespaces(_ map: CBORItem) throws(MdocParseError) -> [IssuerSignedNamespace] {
    let reader = StructureParser(code: .responseMalformed)
    let member = "issuerSigned.nameSpaces"
    var namespaces: [IssuerSignedNamespace] = []
    for (name, items) in try reader.entries(map, member) {
      let name = try reader.text(name, "a name in \(member)")
      do {
        namespaces.append(try IssuerSignedNamespace(name: name, parsing: items))
      } catch {
        throw error.inside("\(member)[\(namespaces.count)]")
      }
    }
    return namespaces
  }
}

/// The items that the issuer signed in one namespace.
struct IssuerSignedNamespace: Sendable {
  let name: String
  let items: [IssuerSignedItem]

  init(name: String, parsing list: CBORItem) throws(MdocParseError) {
    self.name = name
    var items: [IssuerSignedItem] = []
    for item in try StructureParser(code: .responseMalformed).elements(list, ": it") {
      do {
        items.append(try IssuerSignedItem(parsing: item))
      } catch {
        throw error.inside("[\(items.count)]")
      }
    }
    self.items = items
  }
}

/// An IssuerSignedItem with the bytes that its digest covers (ISO/IEC 18013-5:2021, 9.1.2.5).
struct IssuerSignedItem: Sendable {
  /// The whole `#6.24(bstr …)`, as received.
  let digestInput: ArraySlice<UInt8>
  /// The key under which the digest is looked up. Any size is read, though the issuer must stay below 2^31 (9.1.2.4).
  let digestID: UInt64
  let randomLength: Int
  let identifier: String
  let value: CBORItem
  /// Whether it has a fifth member, which is signed and ignored.
  let leavesUnread: Bool

  init(parsing tagged: CBORItem) throws(MdocParseError) {
    guard let item = tagged.embedded else { throw MdocParseError(.itemNotTag24, ": no byte string with tag 24") }
    let reader = StructureParser(code: .itemMalformed)
    digestInput = tagged.encoded
    // One pass over the map: there are many items, and four look-ups in each would be slow.
    var digestID: CBORItem?
    var random: CBORItem?
    var identifier: CBORItem?
    var value: CBORItem?
    for entry in try reader.entries(item, ": the item") {
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
    guard let digestID, let random, let identifier, let value else {
      let members = [
        ("digestID", digestID), ("random", random), ("elementIdentifier", identifier), ("elementValue", value),
      ]
      let missing = members.filter { $0.1 == nil }.map(\.0)
      throw reader.fault(missing.joined(separator: ", "), "missing")
    }
    self.digestID = try reader.unsigned(digestID, "digestID")
    randomLength = try reader.bytes(random, "random").count
    self.identifier = try reader.text(identifier, "elementIdentifier")
    self.value = value
    leavesUnread = item.count != 4
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
  /// The slips that were read past (`Slip`), each with its member.
  let slips: [String]

  init(parsing item: CBORItem) throws(MdocParseError) {
    do {
      try self.init(members: item)
    } catch {
      throw error.inside("deviceSigned")
    }
  }

  private init(members item: CBORItem) throws(MdocParseError) {
    let reader = StructureParser(code: .responseMalformed)
    _ = try reader.entries(item, ": it")
    let nameSpaces = try reader.member("nameSpaces", of: item)
    nameSpacesBytes = nameSpaces.encoded
    var elements: [Element] = []
    for (namespace, values) in try reader.entries(reader.embedded(nameSpaces, "nameSpaces"), "nameSpaces") {
      let name = try reader.text(namespace, "a name in nameSpaces")
      for (identifier, value) in try reader.entries(values, "what stands under a name in nameSpaces") {
        let identifier = try reader.text(identifier, "an element identifier in nameSpaces")
        elements.append(Element(reference: ElementReference(name, identifier), value: value))
      }
    }
    self.elements = elements
    let deviceAuth = item[key: "deviceAuth"]
    var slips: [String] = []
    if let deviceAuth { _ = try reader.entries(deviceAuth, "deviceAuth") }
    deviceSignature = deviceAuth.flatMap { Slip.member("deviceSignature", of: $0, into: &slips) }
    deviceMac = deviceAuth.flatMap { Slip.member("deviceMac", of: $0, into: &slips) }
    Slip.noteFields(of: deviceSignature, "deviceSignature", into: &slips)
    Slip.noteFields(of: deviceMac, "deviceMac", into: &slips)
    self.slips = slips.map { "deviceAuth.\($0)" }
  }
}
